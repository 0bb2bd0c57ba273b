import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const { version } = JSON.parse(read('package.json')) as { version: string }
const kubernetes = globSync('deploy/kubernetes/*.yaml', { cwd: root })

const allOf = (text: string, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([, name]) => name!)

test('the Kubernetes manifests name files that exist, and the image of this version', () => {
  const text = read('deploy/kubernetes/kustomization.yaml')
  const [list = ''] = allOf(text, /^resources: \[(.+)\]$/gm)
  const resources = list.split(', ')
  for (const file of resources) assert.ok(existsSync(path.join(root, 'deploy/kubernetes', file)))
  assert.deepEqual(
    kubernetes.map((file) => path.basename(file)).toSorted(),
    [...resources, 'kustomization.yaml'].toSorted(),
    'every manifest is a resource',
  )
  assert.deepEqual(allOf(text, /newTag: (\S+?) /g), [version])
  assert.deepEqual(allOf(text, /\{ name: (\S+), newName/g), ['bellwether'])
})

test('deploy files set only variables that docs/configuration.md describes, and every secret', () => {
  const described = new Set(allOf(read('docs/configuration.md'), /`([A-Z][A-Z_]+)`/g))
  const secrets = allOf(read('deploy/kubernetes/secrets.env.example'), /^([A-Z_]+)=/gm)
  const settings = allOf(read('deploy/kubernetes/settings.env'), /^([A-Z_]+)=/gm)
  const compose = allOf(read('compose.yaml').split('  database:')[0]!, /^ {6}([A-Z_]+): /gm)
  const inline = kubernetes.flatMap((file) => allOf(read(file), /\{ name: ([A-Z_]+), value/g))
  const unknown = [...secrets, ...settings, ...compose, ...inline].filter(
    (name) => !described.has(name),
  )
  assert.deepEqual(unknown, [])
  for (const name of ['DATABASE_URL', 'ADMIN_API_KEY', 'SECRET_KEY']) {
    assert.ok(secrets.includes(name) && compose.includes(name), name)
  }
})

test('containers can write to /tmp and DATA_DIR only, and their probes ask paths that exist', () => {
  const dataDir = /DATA_DIR=(\S+)/.exec(read('Dockerfile'))?.[1]
  for (const name of ['api', 'worker']) {
    const text = read(`deploy/kubernetes/${name}.yaml`)
    assert.match(text, /readOnlyRootFilesystem: true/)
    const mounts = allOf(text, /mountPath: (\S+?) /g)
    assert.deepEqual(mounts, ['/tmp', dataDir])
    const mounted = allOf(text, /name: (\w+), mountPath/g)
    assert.deepEqual(allOf(text, /name: (\w+), emptyDir/g), mounted)
    for (const probe of allOf(text, /path: (\S+?),/g)) {
      assert.ok(['/healthz', '/readyz'].includes(probe), probe)
    }
  }
  assert.match(read('compose.yaml'), new RegExp(`state:${dataDir}\\]`))
})
