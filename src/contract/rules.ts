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

/** The rule of a schema. Like the properties of TypeBox that begin with `~`, it is not published. */
export const ruleOf = (schema: object): Rule | undefined => (schema as { [RULE]?: Rule })[RULE]

const RULE = '~rule'
