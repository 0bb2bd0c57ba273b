import { Type, type TSchema } from 'typebox'

/** A fault of a value. `at` is a JSON pointer inside it. */
export type RuleFault = { at?: string; detail: string }

/** The faults of a value; empty if it is valid. */
export type Rule = (value: unknown) => RuleFault[]

/**
 * Adds a rule to a schema, for conditions that JSON Schema cannot express or whose faults say what to send.
 * A value is valid only if it fits both.
 */
export function withRule<S extends TSchema>(schema: S, rule: Rule): S {
  const refined = Type.Refine(schema, (value) => rule(value).length === 0)
  return Object.defineProperty(refined, RULE, { value: rule, configurable: true })
}

/** Adds another rule, for values that obey the first one. */
export function alsoWithRule<S extends TSchema>(schema: S, rule: Rule): S {
  const first = ruleOf(schema)
  return withRule(schema, (value) => {
    const found = first?.(value) ?? []
    return found.length > 0 ? found : rule(value)
  })
}

/** The rule of a schema. Like the properties of TypeBox that begin with `~`, it is not published. */
export const ruleOf = (schema: object): Rule | undefined => (schema as { [RULE]?: Rule })[RULE]

/** Says what a value must be if its schema says it in symbols, such as a pattern. */
export const inWords = <S extends TSchema>(schema: S, detail: string): S =>
  Object.defineProperty(schema, WORDS, { value: detail, configurable: true })

export const ruleInWords = (schema: object): string | undefined =>
  (schema as { [WORDS]?: string })[WORDS]

const WORDS = '~words'
const RULE = '~rule'
