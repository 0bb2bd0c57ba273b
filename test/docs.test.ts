import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.dirname(import.meta.dirname)
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const pages = globSync(['*.md', 'docs/**/*.md', 'bench/README.md'], { cwd: root }).toSorted()
const decisions = globSync('docs/decisions/[0-9]*.md', { cwd: root }).toSorted()

test('every link between documents leads to a page and a heading that exist', () => {
  const broken = pages.flatMap((page) =>
    linksOf(read(page))
      .filter((link) => !leadsSomewhere(page, link))
      .map((link) => `${page}: ${link}`),
  )
  assert.deepEqual(broken, [])
})

test('every document that a comment names exists', () => {
  const files = globSync(
    ['{src,test,bench,console,scripts}/**/*.{ts,tsx,css}', 'migrations/**/*.sql'],
    {
      cwd: root,
      exclude: (file) => /node_modules|dist/.test(file),
    },
  )
  const broken = files.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/(?:decisions\/\d{4}[a-z-]*|[a-z-]+\.(?:md|sql))/g)]
      .map(([name]) => name)
      .filter((name) => globSync(`${name}*`, { cwd: root }).length === 0)
      .map((name) => `${file}: ${name}`),
  )
  assert.deepEqual(broken, [])
})

test('docs/database.md lists every table', () => {
  const tables = [...read('docs/schema.sql').matchAll(/^create table (\w+)/gm)].map(
    ([, name]) => name!,
  )
  const list = read('docs/database.md').split('## Tables')[1]!
  assert.deepEqual(
    tables.filter((name) => !list.includes(`\`${name}\``)),
    [],
  )
  assert.ok(tables.length > 40)
})

test('docs/operate/privacy.md says of every table whether it holds personal data', () => {
  const tables = [...read('docs/schema.sql').matchAll(/^create table (\w+)/gm)].map(
    ([, name]) => name!,
  )
  const text = read('docs/operate/privacy.md')
  assert.deepEqual(
    tables.filter((name) => !text.includes(`\`${name}\``)),
    [],
  )
})

/** What has the id 1 after docs/first-mail.md. */
const FIRST =
  /^(?:business|client|professional|reason|location|calendar|emailTemplate|eventDefn|eventTriggers|object)Id/
/** Ids that are the same everywhere. */
const FIXED = /^(?:eventType|report)Id/

test('commands to copy name ids that a business has after its first mail, or ask for the reader’s', () => {
  const commands = pages.flatMap((page) =>
    [...read(page).matchAll(/^```sh\n([^]*?)^```/gm)].map(([, text]) => [page, text!] as const),
  )
  const named = commands.flatMap(([page, text]) => [
    ...[...text.matchAll(/\$URL\/(\w+)\/(?:\w+\/)?(\d+)/g)].map(([, kind, id]) => [
      page,
      `${kind}Id`,
      id!,
    ]),
    ...[...text.matchAll(/\b(\w+Id(?:List)?)\b"?[:=] ?\[?(\d+)/g)].map(([, name, id]) => [
      page,
      name!,
      id!,
    ]),
    ...[...text.matchAll(/(?:--(business)|erase-(client|business)|export-(client)) (\d+)/g)].map(
      ([, ...parts]) => [page, `${parts.slice(0, 3).join('')}Id`, parts[3]!],
    ),
  ])
  const ours = named.filter(([, name]) => !FIXED.test(name!))
  assert.ok(ours.length > 10)
  assert.deepEqual(
    ours.filter(([, name, id]) => id !== '1' || !FIRST.test(name!)),
    [],
  )
})

test('there are at most 30 decisions, each with the same sections and a line in the index', () => {
  assert.ok(decisions.length <= 30, `${decisions.length} decisions`)
  const index = read('docs/decisions/README.md')
  for (const page of decisions) {
    const text = read(page)
    const title = /^# (.+)$/m.exec(text)?.[1]
    assert.ok(index.includes(`[${title}](${path.basename(page)})`), `${page} is in the index`)
    assert.deepEqual(
      [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading),
      ['Context', 'Decision', 'Consequences', 'Revisit when'],
      page,
    )
  }
})

/** Links of a Markdown text to files of this repository, without its examples. */
function linksOf(text: string) {
  const prose = text.replaceAll(/^```[^]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, link]) => link!)
    .filter((link) => !/^[a-z]+:/.test(link))
}

function leadsSomewhere(page: string, link: string) {
  const [file, anchor] = link.split('#')
  const target = file ? path.join(path.dirname(page), file) : page
  if (!existsSync(path.join(root, target))) return false
  return anchor === undefined || anchorsOf(read(target)).has(anchor)
}

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  new Set(
    [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  )
