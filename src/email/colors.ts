import { RecentlyUsed } from '../recently-used.ts'

/** The colours of a mail, derived from the business's own so that every text stays legible. */
export type MailColors = {
  accent: string
  /** For text on the accent. */
  onAccent: string
  /** The accent as text on a light and on a dark background. */
  link: string
  linkOnDark: string
}

const DEFAULT_ACCENT = '#2f5d50'
/** The grounds of the card, on which links are harder to read than on the sheet. */
const LIGHT_GROUND = '#f6f5f0'
const DARK_GROUND = '#22302b'
const LIGHT_TEXT = '#ffffff'
const DARK_TEXT = '#1b2824'
/** The contrast that WCAG AA requires for text. */
const MIN_CONTRAST = 4.5

const known = new RecentlyUsed<string, MailColors>(500)

export function colorsFor(accentColor: string | null): MailColors {
  const accent = accentColor ?? DEFAULT_ACCENT
  return known.getOrMake(accent, () => deriveColors(accent))
}

function deriveColors(accent: string): MailColors {
  const isWhiteLegible =
    contrast(accent, LIGHT_TEXT) >= Math.min(MIN_CONTRAST, contrast(accent, DARK_TEXT))
  return {
    accent,
    onAccent: isWhiteLegible ? LIGHT_TEXT : DARK_TEXT,
    link: legible(accent, LIGHT_GROUND, -LIGHTNESS_STEP),
    linkOnDark: legible(accent, DARK_GROUND, LIGHTNESS_STEP),
  }
}

const LIGHTNESS_STEP = 0.02

/** The colour, made darker or lighter until it is legible on the background. */
function legible(color: string, background: string, step: number) {
  const { hue, saturation, lightness } = hslOf(color)
  for (let value = lightness; value >= 0 && value <= 1; value += step) {
    const candidate = hexOf(hue, saturation, value)
    if (contrast(candidate, background) >= MIN_CONTRAST) return candidate
  }
  return step > 0 ? '#ffffff' : '#000000'
}

/** Red, green and blue, from 0 to 1. */
const channels = (color: string) =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255) as [
    number,
    number,
    number,
  ]

function hslOf(color: string) {
  const [red, green, blue] = channels(color)
  const max = Math.max(red, green, blue)
  const range = max - Math.min(red, green, blue)
  const lightness = max - range / 2
  if (range === 0) return { hue: 0, saturation: 0, lightness }
  const hue =
    max === red
      ? ((green - blue) / range + 6) % 6
      : max === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4
  return { hue, saturation: range / (1 - Math.abs(2 * lightness - 1)), lightness }
}

function hexOf(hue: number, saturation: number, lightness: number) {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number) => {
    const place = (offset + hue * 2) % 12
    return lightness - reach * Math.max(-1, Math.min(place - 3, 9 - place, 1))
  }
  return `#${[0, 8, 4]
    .map((offset) => Math.round(channel(offset) * 255))
    .map((value) => value.toString(16).padStart(2, '0'))
    .join('')}`
}

/** White or black text, whichever is legible on this background. */
export const legibleOn = (background: string) =>
  contrast(background, '#ffffff') >= MIN_CONTRAST ? '#ffffff' : '#000000'

/** The contrast ratio of WCAG 2, from 1 to 21. */
export function contrast(a: string, b: string) {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

function luminance(color: string) {
  const [red, green, blue] = channels(color).map((share) =>
    share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4,
  ) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
