import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isLanguageTag } from '../../src/contract/fields.ts'
import { readLanguage } from '../../src/file-import/languages.ts'

test('a language is a tag of BCP 47, not its name', () => {
  for (const tag of ['de', 'de-CH', 'pt_BR', 'zh-Hant-TW', 'gsw', 'es-419'])
    assert.ok(isLanguageTag(tag), tag)
  for (const name of ['German', 'french', 'Deutsch', 'd', 'de-', 'de-CH-CH', '', 'de CH'])
    assert.ok(!isLanguageTag(name), name)
})

test('a file may name languages in words', () => {
  for (const name of ['German', 'Deutsch', 'allemand', 'tedesco', ' DEUTSCH '])
    assert.equal(readLanguage(name), 'de')
  assert.equal(readLanguage('Français'), 'fr')
  assert.equal(readLanguage('Türkçe'), 'tr')
  assert.equal(readLanguage('de-CH'), 'de-CH')
  assert.equal(readLanguage('Klingonisch?'), 'Klingonisch?')
})
