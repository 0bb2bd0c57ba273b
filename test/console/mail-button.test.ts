import assert from 'node:assert/strict'
import { test } from 'node:test'
import { buttonHtml, buttonOf, colorsOfButton } from '../../console/templates/button-html.ts'

const LINK = 'https://example.org'

test('a button is written in small letters of its colour, and read in small and capital ones', () => {
  const button = buttonOf(LINK, '#2F5DAB')
  assert.deepEqual(button, { address: LINK, color: '#2f5dab', textColor: '#ffffff' })
  for (const color of [button.color, '#2F5DAB']) {
    const html = buttonHtml({ ...button, color }, 'Pay')
    const style = /<a [^>]*style="([^"]*)"/.exec(html)![1]!
    assert.deepEqual(colorsOfButton(style), { color, textColor: '#ffffff' })
  }
  assert.equal(colorsOfButton('font-weight:bold'), undefined)
})
