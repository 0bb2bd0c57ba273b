/**
 * How the console shows a page that the service printed: without its head, as cards, light or dark. On paper
 * it stays as it was printed, with all rows.
 */

/** More rows are laid out only on demand: a browser needs seconds for tens of thousands. */
export const MAX_ROWS = 500

type Look = { isDark: boolean; hasAllRows: boolean }

export function styledPage(html: string, { isDark, hasAllRows }: Look) {
  const own = /<style>([^]*?)<\/style>/.exec(html)?.[1] ?? ''
  const onScreen = [
    ...(isDark ? [darkStyle(own), DARK] : [LIGHT]),
    LAYOUT,
    ...(hasAllRows ? [] : [FIRST_ROWS]),
  ]
  const styles = [fontFaces(), `@media screen {\n${onScreen.join('\n')}\n}`, FONTS]
  return html
    .replace('<head>', () => `<head>${POLICY}`)
    .replace('</head>', () => `<style>${styles.join('\n')}</style></head>`)
}

const POLICY = `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; font-src 'self' data:; img-src data:">`

/** The colours of printed pages, which are those of our light theme, in our dark theme. */
const DARK_COLORS: Record<string, string> = {
  '#fff': '#1a2421',
  '#1b2824': '#e8ede9',
  '#52615a': '#aab8b1',
  '#616d66': '#8c9b94',
  '#e3e1d8': '#2b3833',
  '#eeece4': '#232f2b',
  '#2f5d50': '#8fc7b3',
  '#a83a2a': '#f0917f',
}

const darkStyle = (style: string) =>
  style
    .replace(/#[0-9a-f]{3,6}\b/g, (color) => DARK_COLORS[color] ?? color)
    .replace('color-scheme: light', 'color-scheme: dark')

/** The frame has no style sheets of its own, so it gets the fonts of the console. */
const fontFaces = () =>
  [...document.styleSheets]
    // Other origins, such as an extension of the browser, may not be read.
    .flatMap((sheet) => (isOwn(sheet) ? [...sheet.cssRules] : []))
    .filter((rule) => rule instanceof CSSFontFaceRule)
    .map(({ cssText }) => cssText)
    .join('\n')

const isOwn = ({ href }: CSSStyleSheet) => href === null || href.startsWith(location.origin)

const LIGHT = ':root { --card: #ffffff; --line: #e3e1d8; }'
const DARK = `:root { --card: #1a2421; --line: #2b3833; }
/* Not quite inverted, so that white becomes the colour of a card. */
figure svg { filter: invert(0.9) hue-rotate(180deg); }`

const FONTS = `
body, figure svg { font-family: 'Inter Variable', system-ui, sans-serif; }
h1, .sentence { font-family: 'Source Serif 4 Variable', Georgia, serif; }`

const LAYOUT = `
body { background: none; overflow: hidden; }
main { max-width: none; min-height: 0; padding: 0 0 1px; background: none; }
header { padding: 0; border: 0; }
h1, .business, .logo { display: none; }
.kpis { gap: 14px; margin: 0 0 14px; }
.kpis:empty, .charts:empty { display: none; }
.kpi, figure, .rows { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.kpi { gap: 2px; padding: 12px 16px; }
.kpi strong { font-size: clamp(15px, 13cqi, 24px); font-weight: 600; }
.charts { gap: 14px; margin-bottom: 14px; }
figure { padding: 14px 16px 10px; }
th { background: none; font-weight: 550; font-size: 12px; border-bottom: 1px solid var(--line); }
th, td { padding: 9px 12px; }
.many th, .many td { padding: 8px 6px; }
tfoot td { font-weight: 600; border-top: 1px solid var(--line); }
.rows:has(.none) { display: none; }
.kpi, tbody td:not(.none), tfoot td.n { cursor: pointer; }
.kpi:hover, tbody td:not(.none):hover, tfoot td.n:hover { text-decoration: underline; }
@media (max-width: 640px) {
  .kpis { gap: 10px; }
}`

const FIRST_ROWS = `tbody tr:nth-child(n + ${MAX_ROWS + 1}) { display: none; }`
