import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  FUNCTION_OF_SCOPE,
  FUNCTIONS_OF_ROLE,
  functionsOfScopes,
  SECURITY_FUNCTIONS,
} from '../../src/auth/permissions.ts'
import { ROLES, SCOPES } from '../../src/contract/roles.ts'

test('docs/roles.md matches the permissions in the code', () => {
  const text = readFileSync(new URL('../../docs/roles.md', import.meta.url), 'utf8')
  const rows = text
    .split('\n')
    .filter((line) => /^\| `[A-Z_]+` \|/.test(line))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter((cells) => cells.length > 6)
  assert.deepEqual(
    rows.map(([, name]) => name),
    SECURITY_FUNCTIONS.map((name) => `\`${name}\``),
  )
  for (const [, name, , scope, ...roles] of rows) {
    const wanted = SECURITY_FUNCTIONS.find((one) => name === `\`${one}\``)!
    assert.ok(functionsOfScopes(SCOPES.filter((one) => scope === `\`${one}\``)).has(wanted), wanted)
    ROLES.forEach((role, i) =>
      assert.equal(
        roles[i],
        FUNCTIONS_OF_ROLE[role].includes(wanted) ? 'yes' : '',
        `${role} ${name}`,
      ),
    )
  }
})

test('the function that a person needs for a scope is one that the scope gives to keys', () => {
  for (const scope of SCOPES) {
    assert.ok(functionsOfScopes([scope]).has(FUNCTION_OF_SCOPE[scope]), scope)
  }
  assert.deepEqual([...functionsOfScopes(SCOPES)], SECURITY_FUNCTIONS)
})
