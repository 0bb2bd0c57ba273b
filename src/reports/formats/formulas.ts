/** A spreadsheet would run a text that begins so, some also behind blanks. */
export const beginsLikeAFormula = (text: string) => /^\s*[=+\-@＝＋－＠]|^[\t\r]/.test(text)
