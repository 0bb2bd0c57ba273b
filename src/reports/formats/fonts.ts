import { join } from 'node:path'

/** The fonts that a text needs. They are part of the project: a PDF looks the same everywhere. */
export function fontsFor(text: string) {
  const needed = TYPEFACES.filter(({ script }) => !script || script.test(text))
  return {
    families: needed.map(({ family }) => family),
    files: needed.flatMap(({ files }) => files),
  }
}

/** See fonts/README.md. */
const FOLDER = join(import.meta.dirname, '../../../fonts')

type Typeface = { family: string; files: string[]; script?: RegExp }

/** Scripts with a Noto Sans font of their own. */
const SCRIPTS = [
  'Arabic',
  'Hebrew',
  'Thai',
  'Armenian',
  'Bengali',
  'Ethiopic',
  'Georgian',
  'Gujarati',
  'Gurmukhi',
  'Kannada',
  'Khmer',
  'Lao',
  'Malayalam',
  'Myanmar',
  'Sinhala',
  'Tamil',
  'Telugu',
]

const notoSans = (script: string): Typeface => ({
  family: `Noto Sans ${script}`,
  script: new RegExp(`\\p{Script=${script}}`, 'u'),
  files: filesOf(`NotoSans${script}`, 'Regular', 'Bold'),
})

/** In the order in which Typst looks for a character. */
const TYPEFACES: Typeface[] = [
  {
    // Latin, Greek, Cyrillic and Devanagari.
    family: 'Noto Sans',
    files: filesOf('NotoSans', 'Regular', 'Bold'),
  },
  ...SCRIPTS.map(notoSans),
  {
    family: 'NanumGothic',
    script: /\p{Script=Hangul}/u,
    files: filesOf('NanumGothic', 'Regular', 'Bold'),
  },
  {
    // All Chinese characters, simplified and traditional, and the Japanese syllables.
    family: 'Noto Sans SC',
    script:
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u,
    files: filesOf('NotoSansSC', 'Regular'),
  },
  {
    family: 'Noto Color Emoji',
    script: /\p{Extended_Pictographic}|\p{Regional_Indicator}/u,
    files: filesOf('NotoColorEmoji', 'Regular'),
  },
]

function filesOf(font: string, ...weights: string[]) {
  return weights.map((weight) => join(FOLDER, `${font}-${weight}.ttf`))
}
