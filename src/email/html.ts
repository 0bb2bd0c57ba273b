import { compile, type DomNode } from 'html-to-text'
import juice from 'juice'
import { parseFragment, serialize, type DefaultTreeAdapterTypes } from 'parse5'
import sanitizeHtml from 'sanitize-html'
import { ALLOWED_STYLES, STYLE_VALUE } from './allowed-styles.ts'
import { readMediaRules, type MediaRules } from './media-rules.ts'
import { markLink, withoutLinkMarks } from './segments.ts'

/**
 * The HTML of a template as mails contain it: styles inlined, without anything that a mail program
 * or the preview would run or load. The result contains `<` and `>` only around tags, and quotes
 * every attribute: `merge.ts` relies on it.
 */
export function prepareHtml(
  html: string,
  { classes }: Pick<MediaRules, 'classes'> = readMediaRules(html),
) {
  const inlined = inlineStyles(html.toWellFormed())
  return sanitizeHtml(inlined, classes.length === 0 ? RULES : withClasses(classes))
}

/** Media rules apply to classes; any other class is removed. */
const withClasses = (classes: string[]): sanitizeHtml.IOptions => ({
  ...RULES,
  allowedClasses: { '*': classes },
})

/**
 * The HTML that is stored for a template: the author's if a browser parses it like the prepared HTML,
 * else the prepared HTML. So the stored HTML never contains an element, attribute or style that the
 * sanitiser would drop.
 */
export const storedHtml = (html: string, prepared: string) =>
  removedParts(html, prepared).length === 0 && asBrowsersRead(html) === asBrowsersRead(prepared)
    ? html
    : prepared

/**
 * The elements, attributes and styles that preparing dropped, such as `script`, `body onload` and
 * `p style="position"`. Style sheets are not compared, because they are inlined. The parts are listed
 * as the sanitiser reads them: a browser ignores some tags in the wrong place, and the comparison of what
 * browsers read does not see their attributes.
 */
export function removedParts(html: string, prepared: string): string[] {
  const kept = Map.groupBy(partsOf(prepared), (part) => part)
  const removed = partsOf(html).filter((part) => !kept.get(part)?.pop())
  return [...new Set(removed)]
}

/** Without style sheets and classes, which are inlined, and without the frame of a whole document. */
function partsOf(html: string) {
  const parts: string[] = []
  sanitizeHtml(html, {
    allowedTags: false,
    allowedAttributes: false,
    allowVulnerableTags: true,
    transformTags: {
      '*': (tagName, attribs) => {
        const names = Object.keys(attribs).filter((name) => name !== 'style' && name !== 'class')
        if (!FRAME.has(tagName)) {
          parts.push(
            tagName,
            ...propertiesOf(attribs.style).map((one) => `${tagName} style="${one}"`),
          )
        }
        if (tagName !== 'style') parts.push(...names.map((name) => `${tagName} ${name}`))
        return { tagName, attribs }
      },
    },
  })
  return parts
}

const propertiesOf = (style = '') => [
  ...new Set(
    [...style.matchAll(/(?:^|;)\s*([a-z-]+)\s*:/gi)].map(([, name]) => name!.toLowerCase()),
  ),
]

const FRAME = new Set(['html', 'head', 'body', 'style'])

/** Parsed and written again, without comments and without the white space of styles. */
function asBrowsersRead(html: string) {
  const fragment = parseFragment(html)
  normalize(fragment)
  return serialize(fragment)
}

function normalize(node: DefaultTreeAdapterTypes.ParentNode) {
  node.childNodes = node.childNodes.filter((child) => child.nodeName !== '#comment')
  for (const child of node.childNodes) {
    if (!('attrs' in child)) continue
    for (const attribute of child.attrs) {
      if (attribute.name === 'style') {
        attribute.value = attribute.value.replace(/\s+/g, '').replace(/;$/, '')
      }
    }
    normalize(child)
  }
}

/** The text part for a template that has none. Tokens keep their places; addresses of links are marked. */
export const textOfHtml = (html: string) => toText(withoutLinkMarks(html)).trim()

/** Braces such as `{{x}}` are text in our templates; searching for each takes quadratic time. */
for (const name in juice.codeBlocks) delete juice.codeBlocks[name]

function inlineStyles(html: string) {
  if (!/<style/i.test(html)) return html
  return juice(html, {
    preserveMediaQueries: false,
    preserveFontFaces: false,
    preserveKeyFrames: false,
    preservePseudos: false,
    preserveLayers: false,
    preserveContainerQueries: false,
    applyWidthAttributes: false,
    applyHeightAttributes: false,
  })
}

const TAGS =
  'a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup dd del dfn div dl dt em figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark nav ol p pre q s samp section small span strike strong sub sup table tbody td tfoot th thead time tr tt u ul var wbr'.split(
    ' ',
  )

const CELL = ['align', 'valign', 'width', 'height', 'bgcolor', 'colspan', 'rowspan', 'nowrap']

const RULES: sanitizeHtml.IOptions = {
  allowedTags: TAGS,
  allowedAttributes: {
    '*': ['style', 'dir', 'lang', 'title', 'align', 'role', 'aria-label', 'aria-hidden'],
    a: ['href', 'name', 'target'],
    img: ['src', 'alt', 'width', 'height', 'border'],
    font: ['color', 'face', 'size'],
    table: ['width', 'height', 'bgcolor', 'border', 'cellpadding', 'cellspacing'],
    tr: CELL,
    td: CELL,
    th: [...CELL, 'scope'],
    col: ['span', 'width'],
    colgroup: ['span', 'width'],
    ol: ['start', 'type'],
    ul: ['type'],
    li: ['value'],
    hr: ['size', 'width', 'color'],
    time: ['datetime'],
  },
  allowedStyles: { '*': Object.fromEntries(ALLOWED_STYLES.map((name) => [name, [STYLE_VALUE]])) },
  allowedSchemes: ['http', 'https', 'mailto', 'tel'],
  allowedSchemesByTag: { img: ['http', 'https', 'data', 'cid'] },
  allowProtocolRelative: false,
  transformTags: {
    '*': (tagName, attribs) => {
      for (const name of ['href', 'src']) {
        if (attribs[name] !== undefined && isDoubtful(attribs[name])) delete attribs[name]
      }
      return { tagName, attribs }
    },
  },
  disallowedTagsMode: 'discard',
  // Removed with their content, which is not text for readers.
  nonTextTags: [
    'script',
    'style',
    'textarea',
    'option',
    'noscript',
    'noembed',
    'noframes',
    'title',
    'template',
    'xmp',
    'iframe',
    'object',
    'svg',
    'math',
  ],
  enforceHtmlBoundary: false,
  nestingLimit: 250,
}

/**
 * Programs differ in how they read URLs with blanks or invisible characters in the scheme. The only
 * allowed `data:` URLs are images.
 */
function isDoubtful(address: string) {
  const bare = address.replace(/[\s\p{Cc}\p{Cf}]/gu, '')
  if (/^data:/i.test(bare)) return !/^data:image\/(?:png|jpe?g|gif|webp);/.test(address)
  return /^(?:[a-z][a-z0-9+.-]*:|[/\\]{2})/i.test(bare) && !/^[a-z]+:/i.test(address)
}

const heading = { leadingLineBreaks: 2, trailingLineBreaks: 1, uppercase: false }

const toText = compile({
  wordwrap: false,
  formatters: {
    link: (element, walk, builder) => {
      const { href = '' } = element.attribs as { href?: string }
      // An address within the mail leads nowhere in a text.
      if (href === '' || href.startsWith('#')) return walk(element.children, builder)
      if (textIn(element).trim() === href) return builder.addInline(markLink(href))
      let hasText = false
      builder.pushWordTransform((word) => {
        hasText ||= word !== ''
        return word
      })
      walk(element.children, builder)
      builder.popWordTransform()
      builder.addInline(hasText ? ` ${markLink(`<${href}>`)}` : markLink(href))
    },
    altText: (element, _walk, builder) => {
      const { alt } = element.attribs as { alt?: string }
      if (alt) builder.addInline(alt)
    },
    cell: (element, walk, builder) => {
      walk(element.children, builder)
      builder.addInline(' ')
    },
  },
  selectors: [
    { selector: 'a', format: 'link' },
    // The number or address is the text already.
    { selector: 'a[href^="tel:"]', format: 'anchor', options: { ignoreHref: true } },
    { selector: 'a[href^="mailto:"]', format: 'anchor', options: { ignoreHref: true } },
    { selector: 'img', format: 'altText' },
    { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: heading })),
  ],
})

const textIn = ({ data = '', children = [] }: DomNode): string =>
  data + children.map(textIn).join('')
