import fs from 'node:fs'
import path from 'node:path'

/**
 * Adds to package-lock.json the packages of other platforms that npm omits if its registry does not
 * have them; without them `npm ci` refuses the whole file. Run it after `npm install`.
 */
type Entry = {
  version?: string
  dev?: boolean
  optional?: boolean
  optionalDependencies?: Record<string, string>
}

const file = path.join(import.meta.dirname, '../package-lock.json')
const lock = JSON.parse(fs.readFileSync(file, 'utf8'))
const packages: Record<string, Entry> = lock.packages

const added: string[] = []
for (const [place, entry] of Object.entries(packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const known = [`node_modules/${name}`, `${place}/node_modules/${name}`]
    if (known.some((place) => packages[place])) continue
    packages[`node_modules/${name}`] = {
      version,
      ...platformOf(name),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
    }
    added.push(name)
  }
}

const [root, ...others] = Object.entries(packages)
lock.packages = Object.fromEntries([
  root!,
  ...others.toSorted(([a], [b]) => a.localeCompare(b, 'en')),
])
fs.writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`)
console.log(added.length === 0 ? 'nothing was missing' : `added ${added.join(', ')}`)

/** Derived from the name: binding-linux-arm64-musl, binding-win32-x64-msvc, linux-x64 … */
function platformOf(name: string) {
  const [, os, cpu, rest = ''] =
    /(android|darwin|freebsd|linux|openharmony|win32)-(arm64|arm|ia32|ppc64|riscv64|s390x|x64)(.*)$/.exec(
      name,
    ) ?? []
  if (!os || !cpu) throw new Error(`${name}: its platform is not in its name`)
  const libc = /musl/.test(rest) ? ['musl'] : /gnu/.test(rest) ? ['glibc'] : undefined
  return { cpu: [cpu], ...(libc && os === 'linux' ? { libc } : {}), os: [os] }
}
