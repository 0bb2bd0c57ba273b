import { Extension, Mark } from '@tiptap/core'
import Image from '@tiptap/extension-image'
import Link from '@tiptap/extension-link'
import StarterKit from '@tiptap/starter-kit'
import { ButtonNode } from './button-node.ts'
import { Conditions } from './conditions.ts'
import { TokenNode, type TokenOptions } from './token-node.ts'

/** Attributes that the editor keeps as they are, because mails use them for their look. */
const KEPT = ['align', 'dir', 'lang']
const BLOCKS = ['paragraph', 'heading', 'bulletList', 'orderedList', 'listItem', 'blockquote']

const keptAttribute = (name: string) => ({
  default: null,
  parseHTML: (element: HTMLElement) => element.getAttribute(name),
  renderHTML: (attributes: Record<string, unknown>) =>
    attributes[name] === null ? {} : { [name]: attributes[name] },
})

/** The browser rewrites styles, so the original text is stored in a second attribute. */
const keptStyle = {
  default: null,
  parseHTML: (element: HTMLElement) => element.dataset.style ?? element.getAttribute('style'),
  renderHTML: ({ style }: Record<string, unknown>) =>
    style === null ? {} : { style, 'data-style': style },
}

const KeptAttributes = Extension.create({
  name: 'keptAttributes',
  addGlobalAttributes: () => [
    {
      types: [...BLOCKS, 'image', 'horizontalRule', 'link', 'span'],
      attributes: {
        ...Object.fromEntries(KEPT.map((name) => [name, keptAttribute(name)])),
        style: keptStyle,
      },
    },
  ],
})

/** A piece of text with its own style, such as a colour. */
const Span = Mark.create({
  name: 'span',
  parseHTML: () => [{ tag: 'span:not([data-token])' }],
  renderHTML: ({ HTMLAttributes }) => ['span', HTMLAttributes, 0],
})

const TAGS_OF_MARK: Record<string, string[]> = {
  bold: ['strong', 'b'],
  italic: ['em', 'i'],
  strike: ['s', 'del', 'strike'],
  underline: ['u'],
}

/** Styles are kept as they are: `font-weight: bold` must not become an element as well. */
const Kit = StarterKit.extend({
  addExtensions() {
    return (this.parent?.() ?? []).map((extension) => {
      const tags = TAGS_OF_MARK[extension.name]
      return tags && extension instanceof Mark
        ? extension.extend({ parseHTML: () => tags.map((tag) => ({ tag })) })
        : extension
    })
  },
})

/** The elements that the mode Write supports. A template with others is edited as HTML. */
export const bodyExtensions = (tokens: TokenOptions) => [
  Kit.configure({
    code: false,
    codeBlock: false,
    link: false,
    // It would add an empty paragraph to templates that end with a list.
    trailingNode: false,
    heading: { levels: [1, 2, 3] },
  }),
  Link.configure({
    openOnClick: false,
    HTMLAttributes: { target: null, rel: null },
    isAllowedUri: (url, { defaultValidate }) => /^%[A-Z]/.test(url) || defaultValidate(url),
  }),
  Image.configure({ inline: true, allowBase64: true }),
  Span,
  KeptAttributes,
  ButtonNode,
  TokenNode.configure(tokens),
  Conditions,
]
