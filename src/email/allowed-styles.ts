/** The styles that mails may have: none that loads a file, runs code, or covers other content. */
export const ALLOWED_STYLES =
  'background background-color border border-bottom border-bottom-color border-bottom-style border-bottom-width border-collapse border-color border-left border-left-color border-left-style border-left-width border-radius border-right border-right-color border-right-style border-right-width border-spacing border-style border-top border-top-color border-top-style border-top-width border-width box-sizing clear color direction display float font font-family font-size font-style font-variant font-weight height letter-spacing line-height list-style list-style-type margin margin-bottom margin-left margin-right margin-top max-height max-width min-height min-width opacity overflow overflow-wrap padding padding-bottom padding-left padding-right padding-top table-layout text-align text-decoration text-indent text-overflow text-transform unicode-bidi vertical-align white-space width word-break word-spacing word-wrap'.split(
    ' ',
  )

/** Only functions of colours and numbers: `url()` would load, and other functions can contain it. */
export const STYLE_VALUE = /^(?!.*(?<!\b(?:rgba?|hsla?|calc|min|max|clamp))\()[^\\<>{}@;*]{0,500}$/i

export const isAllowedStyle = (property: string, value: string) =>
  ALLOWED_STYLES.includes(property.toLowerCase()) && STYLE_VALUE.test(value)
