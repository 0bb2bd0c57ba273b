/** Templates that are expensive for a parser, a sanitiser or an inliner. */
type Hostile = {
  name: string
  /** Fields that replace or add to name, subject and body. */
  fields: Record<string, string>
  /** What the refusal says; undefined if the template is accepted. */
  refused?: RegExp
}

const times = (count: number, write: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join('')

const sheet = (css: string) => `<style>${css}</style>`

const html = (name: string, emailBody: string, refused?: RegExp): Hostile => ({
  name,
  fields: { emailBody },
  ...(refused ? { refused } : {}),
})

export const hostileTemplates: Hostile[] = [
  html('quotes and backslashes in a style sheet', sheet('"\\'.repeat(25_000)), /never closed/),
  html('a style sheet of 200 kB', sheet('"\\'.repeat(100_000)), /longer than 100000 characters/),
  html(
    'an escaped quote at the end of a style sheet',
    sheet(`p::before{content:"${'\\"'.repeat(40_000)}"}`),
  ),
  html('many rules for many elements', manyRules(2_000, 2_000), /more than 1000 style selectors/),
  html('as many rules as are allowed', manyRules(990, 2_000), /must be at most 200000/),
  html(
    'one rule with many selectors',
    sheet(`${times(5_000, (i) => `.a${i},`)}p{color:red}`),
    /more than 1000 style selectors/,
  ),
  html(
    'nested rules whose selectors multiply',
    `${sheet('a,b,i,p{'.repeat(12) + 'color:red' + '}'.repeat(12))}<p>x</p>`,
  ),
  html(
    'a selector that backtracks through a deep tree',
    sheet(`${'* '.repeat(40)}u{color:red}`) +
      '<div>'.repeat(150) +
      '<u>x</u>'.repeat(20) +
      '</div>'.repeat(150),
  ),
  html(
    'a selector of many siblings',
    sheet('i~i~i~i~i~i~i~b+u{color:red}') + '<i>x</i>'.repeat(900) + '<u>x</u>',
  ),
  html(
    'selectors that count siblings',
    sheet(
      times(
        95,
        (i) => `i:not(:has(~u)):not(:has(~b)):not(:has(~s)):nth-of-type(${i}n+1){color:red}`,
      ),
    ) + '<i>x</i>'.repeat(2_000),
    /takes more than 3 s to process/,
  ),
  html('many declarations', `${sheet(`p{${'color:red;'.repeat(5_000)}}`)}<p>x</p>`),
  html('open comments in a style sheet', sheet('/* '.repeat(30_000)), /comment is never closed/),
  html('open braces in a style sheet', sheet('{'.repeat(900)), /never closed/),
  html('brackets in a style sheet', sheet(`p{color:${'('.repeat(90_000)}}`)),
  html('at signs in a style sheet', sheet('@'.repeat(90_000))),
  html('template code blocks', `${sheet('p{color:red}')}<p>${'{{x}}'.repeat(20_000)}</p>`),
  html('many elements', '<b>x</b>'.repeat(60_000), /more than 10000 tags/),
  html('elements that are never closed', '<p>'.repeat(160_000), /more than 10000 tags/),
  html('nested elements', '<b>'.repeat(150_000), /nested more than 200 deep/),
  html('closing tags', '</p>'.repeat(120_000), /more than 10000 tags/),
  html('as many closing tags as are allowed', '</p>'.repeat(9_990)),
  html(
    'formatting that every paragraph repeats',
    times(190, (i) => `<font size=${i}>`) + '<p>x'.repeat(4_000),
  ),
  html('open angle brackets', '<'.repeat(200_000), /its text escaped it is longer/),
  html('open comments', '<!--'.repeat(120_000), /comment is never closed/),
  html('empty comments', '<!---->'.repeat(30_000)),
  html('ampersands', '&'.repeat(200_000), /its text escaped it is longer/),
  html(
    'long styles for many elements',
    sheet(`p{${times(900, (i) => `font-family:a${i};`)}}`) + '<p>x</p>'.repeat(200),
    // A slow processor reaches the limit of CPU time first.
    /its styles inlined|takes more than 3 s to process/,
  ),
  html('entities', '&#37;'.repeat(90_000)),
  html('spaces', `<p>${' '.repeat(200_000)}x</p>`),
  html('line breaks', `<pre>${' \n'.repeat(200_000)}</pre>`),
  html('one attribute many times', `<p ${'a=1 '.repeat(110_000)}>x</p>`, /this tag is longer/),
  html('many attributes', `<p ${times(50_000, (i) => `a${i}=1 `)}>x</p>`, /this tag is longer/),
  html('as many attributes as are allowed', `<p ${times(650, (i) => `a${i} `)}>x</p>`.repeat(120)),
  html('quotes in a tag', `<p ${'"'.repeat(200_000)}>x</p>`, /this tag is longer/),
  html('a long style attribute', `<p style="${'color:red;'.repeat(20_000)}">x</p>`),
  html('quotes in a style attribute', `<p style='${'"\\'.repeat(200_000)}'>x</p>`),
  html('functions in a style attribute', `<p style="color:${'rgb('.repeat(100_000)}">x</p>`),
  html('an address with white space', `<a href="java${'\t'.repeat(200_000)}script:x">x</a>`),
  html('an address with comments', `<a href="${'<!--'.repeat(30_000)}">x</a>`),
  html('a long srcset', `<img srcset="${'a 1x, '.repeat(70_000)}">`),
  html('unknown tokens', '%ABC%'.repeat(95_000), /there is no token/),
  html('unknown tokens in a style', `<p style="${'%ABC%'.repeat(90_000)}">x</p>`, /no token/),
  html('tokens in styles', `<p style="${'%CLIENT_PHONE%'.repeat(30_000)}">x</p>`, /in a style/),
  html('percent signs', '%A'.repeat(240_000)),
  html('as many tokens as are allowed', '%CLIENT_FULLNAME%'.repeat(5_000)),
  html('too many tokens', '%CLIENT_FULLNAME%'.repeat(28_000), /there are more than 5000 tokens/),
  html('an unfinished token', `%${'A'.repeat(200_000)}`),
  {
    name: 'unknown tokens in the text part',
    fields: { emailBody: 'x', emailBodyText: '%ABC%'.repeat(39_000) },
    refused: /there is no token/,
  },
  {
    name: 'line breaks before unknown tokens in the text part',
    fields: { emailBody: 'x', emailBodyText: '\n%ABC%'.repeat(33_000) },
    refused: /there is no token/,
  },
  {
    name: 'unknown tokens in the subject',
    fields: { emailBody: 'x', subject: '%ABC%'.repeat(200) },
    refused: /there is no token/,
  },
  { name: 'a subject of percent signs', fields: { emailBody: 'x', subject: '%A'.repeat(500) } },
  {
    name: 'tokens in an address',
    fields: { emailBody: 'x', toAddress: '%CLIENT_PHONE%'.repeat(18) },
    refused: /one plain address/,
  },
  {
    name: 'dots in an address',
    fields: { emailBody: 'x', toAddress: `a${'.a'.repeat(120)}!` },
    refused: /one plain address/,
  },
]

function manyRules(rules: number, paragraphs: number) {
  return sheet(times(rules, (i) => `p{margin:${i}px}`)) + '<p>x</p>'.repeat(paragraphs)
}
