import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { buildStaleConsole } from '../src/cli/build-console.ts'

/**
 * Builds what is published: the console, the program in dist/ with the types of its client, and the client
 * as a package of its own in packages/client/: npm run build.
 */
const root = path.dirname(import.meta.dirname)
const dist = path.join(root, 'dist')
const clientDist = path.join(root, 'packages/client/dist')
const require = createRequire(import.meta.url)

await buildStaleConsole()
for (const folder of [dist, clientDist]) fs.rmSync(folder, { recursive: true, force: true })
compile('tsconfig.build.json', dist)
for (const file of ['reports/formats/report.typ', 'texts/api/introduction.md'])
  fs.cpSync(path.join(root, 'src', file), path.join(dist, file))
// Adds the types, and replaces the client by one that also runs in older versions of Node and in browsers.
compile('src/client', dist)
compile('src/client', clientDist)
removeDependencies()

function compile(project: string, outDir: string) {
  const tsc = path.join(path.dirname(require.resolve('typescript/package.json')), 'bin/tsc')
  const args = [tsc, '-p', path.join(root, project), '--outDir', outDir]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

/** The client needs types of the contract, which need those of TypeBox, and none of their code. */
function removeDependencies() {
  const typebox = path.join(path.dirname(require.resolve('typebox')), '..')
  fs.cpSync(path.join(typebox, 'build'), path.join(clientDist, 'typebox'), {
    recursive: true,
    filter: (file) => fs.statSync(file).isDirectory() || file.endsWith('.d.mts'),
  })
  fs.cpSync(path.join(typebox, 'license'), path.join(clientDist, 'typebox/license'))
  for (const file of fs.globSync('**/*.{js,d.ts}', { cwd: clientDist })) {
    const place = path.join(clientDist, file)
    if (file.endsWith('.js') && !file.startsWith('client/')) fs.rmSync(place)
    else if (file.endsWith('.d.ts')) {
      const up = '../'.repeat(file.split(path.sep).length - 1) || './'
      const text = fs.readFileSync(place, 'utf8')
      fs.writeFileSync(
        place,
        text
          .replaceAll(/(["'])typebox\1/g, `$1${up}typebox/index.mjs$1`)
          .replaceAll(/(["'])typebox\/(\w+)\1/g, `$1${up}typebox/$2/index.mjs$1`),
      )
    }
  }
}
