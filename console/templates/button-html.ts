/** A button of a mail: a table cell with padding, because Outlook ignores the padding of links. */
export type MailButton = {
  /** `https://…`, or one token such as `%CONFIRM_URL%`: without its value the mail has no button. */
  address: string
  /** `#rrggbb` */
  color: string
  textColor: string
}

/** A button in the colour of the business, with a text colour that is legible on it. */
export function buttonOf(address: string, accentColor: string | null): MailButton {
  const color = (accentColor ?? DEFAULT_COLOR).toLowerCase()
  return { address, color, textColor: luminance(color) > MAX_UNDER_WHITE ? '#1b2824' : '#ffffff' }
}

/** As in src/email/colors.ts: with this luminance, white and the dark text have the same contrast. */
const MAX_UNDER_WHITE = 0.22
const DEFAULT_COLOR = '#2f5d50'

/** The relative luminance of WCAG 2. */
function luminance(color: string) {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255)
    .map((share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4))
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

/** The colours in the style of a button's link. */
export function colorsOfButton(style: string) {
  const color = /background-color:(#[\da-f]{6})/i.exec(style)?.[1]
  const textColor = /;color:(#[\da-f]{6})/i.exec(style)?.[1]
  return color && textColor ? { color, textColor } : undefined
}

/** The token that is the whole address of a button: the button then has its own condition. */
export const tokenOfAddress = (address: string) => /^%([A-Z][A-Z0-9_]{2,})%$/.exec(address)?.[1]

/** The HTML of a button around the HTML of its text. The demo writes the same. */
export function buttonHtml({ address, color, textColor }: MailButton, text: string) {
  const token = tokenOfAddress(address)
  const href = address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
  const table =
    `<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:16px 0"><tr>` +
    `<td style="background-color:${color};color:${textColor};border-radius:6px;padding:12px 22px;font-family:Helvetica,Arial,sans-serif">` +
    `<a href="${href}" style="background-color:${color};color:${textColor};font-size:16px;font-weight:bold;text-decoration:none">${text}</a>` +
    `</td></tr></table>`
  return `<div>${token ? `%IF:${token}%${table}%END:IF%` : table}</div>`
}
