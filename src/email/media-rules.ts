import postcss, { type AtRule, type Rule } from 'postcss'
import { isAllowedStyle } from './allowed-styles.ts'

/** The media rules of style sheets, which cannot be inlined: they depend on the reader's screen. */
export type MediaRules = {
  /** As they are stored with the template. */
  css: string
  /** The same rules, limited to the body of the template, so that they do not change the layout. */
  scopedCss: string
  /** The classes that they name; all others are removed. */
  classes: string[]
}

/** The class of the element around the body of a template. */
const BODY_CLASS = 'bw-body'

/**
 * The safe media rules of the style sheets in HTML. Their declarations get `!important`, because they
 * must override the styles that are inlined.
 */
export function readMediaRules(html: string): MediaRules {
  const found = html
    .matchAll(/<style\b[^>]*>([^]*?)<\/style/gi)
    .flatMap(([, css = '']) => parseRules(css))
    .toArray()
  const write = (scope: string) =>
    found.map(
      ({ params, rules }) =>
        `@media ${params}{\n${rules.map((rule) => ruleText(rule, scope)).join('')}}\n`,
    )
  const selectors = found.flatMap(({ rules }) => rules.flatMap(({ selectors }) => selectors))
  return {
    css: write('').join(''),
    scopedCss: write(`.${BODY_CLASS} `).join(''),
    classes: [
      ...new Set(
        selectors.flatMap((one) => [...one.matchAll(/\.([\w-]+)/g)].map(([, name]) => name!)),
      ),
    ],
  }
}

type SafeRule = { selectors: string[]; declarations: string[] }

function parseRules(css: string): { params: string; rules: SafeRule[] }[] {
  let nodes
  try {
    nodes = postcss.parse(css).nodes
  } catch {
    return []
  }
  return nodes
    .filter((node): node is AtRule => node.type === 'atrule' && /^media$/i.test(node.name))
    .filter(({ params }) => PARAMS.test(params))
    .map(({ params, nodes: inner = [] }) => ({
      params,
      rules: inner
        .filter((node): node is Rule => node.type === 'rule')
        .map(safeRule)
        .filter(({ selectors, declarations }) => selectors.length > 0 && declarations.length > 0),
    }))
    .filter(({ rules }) => rules.length > 0)
}

const safeRule = ({ selectors, nodes }: Rule): SafeRule => ({
  selectors: selectors.filter((selector) => SELECTOR.test(selector)),
  declarations: nodes.flatMap((node) =>
    node.type === 'decl' && isAllowedStyle(node.prop, node.value)
      ? [`${node.prop.toLowerCase()}:${node.value.trim()}!important`]
      : [],
  ),
})

const ruleText = ({ selectors, declarations }: SafeRule, scope: string) =>
  `${selectors.map((selector) => `${scope}${selector}`).join(',')}{${declarations.join(';')}}\n`

const PARAMS = /^[\w\s():,.-]{1,300}$/
/** Elements, classes and combinators: no ids, which are removed, and no attributes or functions. */
const SELECTOR = /^[\w\s.*>+~-]{1,300}$/
