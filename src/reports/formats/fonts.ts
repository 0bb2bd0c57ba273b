import { fileURLToPath } from 'node:url'

/** The fonts that a text needs. They are part of the installation: a PDF looks the same everywhere. */
export function fontsFor(text: string) {
  const needed = TYPEFACES.filter(({ script }) => !script || script.test(text))
  return {
    families: needed.map(({ family }) => family),
    files: needed.flatMap(({ files }) => files.map(pathOf)),
  }
}

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
  files: weights(`noto-sans-${script.toLowerCase()}`, `NotoSans${script}`, '400Regular', '700Bold'),
})

/** In the order in which Typst looks for a character. */
const TYPEFACES: Typeface[] = [
  {
    // Latin, Greek, Cyrillic and Devanagari.
    family: 'Noto Sans',
    files: weights('noto-sans', 'NotoSans', '400Regular', '700Bold'),
  },
  ...SCRIPTS.map(notoSans),
  {
    family: 'NanumGothic',
    script: /\p{Script=Hangul}/u,
    files: weights('nanum-gothic', 'NanumGothic', '400Regular', '700Bold'),
  },
  {
    // All Chinese characters, simplified and traditional, and the Japanese syllables.
    family: 'Noto Sans SC',
    script:
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u,
    files: weights('noto-sans-sc', 'NotoSansSC', '400Regular'),
  },
  {
    family: 'Noto Color Emoji',
    script: /\p{Extended_Pictographic}|\p{Regional_Indicator}/u,
    files: weights('noto-color-emoji', 'NotoColorEmoji', '400Regular'),
  },
]

function weights(name: string, file: string, ...weights: string[]) {
  return weights.map((weight) => `@expo-google-fonts/${name}/${weight}/${file}_${weight}.ttf`)
}

const pathOf = (file: string) => fileURLToPath(import.meta.resolve(file))
