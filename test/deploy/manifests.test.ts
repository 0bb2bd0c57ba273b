import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { needProgram, skipLoudly } from '../support/programs.ts'

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

const PARSE =
  'import json,sys,yaml; json.dump([d for f in sys.argv[1:] for d in yaml.safe_load_all(open(f))], sys.stdout)'

type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string }
  spec: {
    selector?: Labels & { matchLabels: Labels }
    ports?: { targetPort: string }[]
    template?: { metadata?: { labels: Labels }; spec: Pod }
  }
}
type Labels = Record<string, string>
type Pod = { containers: Container[]; volumes: { name: string }[] }
type Container = {
  envFrom: { configMapRef?: { name: string }; secretRef?: { name: string } }[]
  ports?: { name: string }[]
  volumeMounts: { name: string }[]
}
type Kustomization = Record<'configMapGenerator' | 'secretGenerator', { name: string }[]>

test('the Kubernetes manifests are YAML, and what they name is in them', (t) => {
  const python = needProgram(t, 'python3')
  if (!python) return
  const parse = (...files: string[]) => {
    const run = spawnSync(python, ['-c', PARSE, ...files], { cwd: root, encoding: 'utf8' })
    if (/No module named 'yaml'/.test(run.stderr)) return undefined
    assert.equal(run.status, 0, run.stderr)
    return JSON.parse(run.stdout)
  }
  const file = 'deploy/kubernetes/kustomization.yaml'
  const manifests: Manifest[] | undefined = parse(...kubernetes.filter((one) => one !== file))
  if (!manifests) return skipLoudly(t, '"apt-get install python3-yaml" installs what reads YAML')
  assert.deepEqual(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted(), [
    'Deployment bellwether-api',
    'Deployment bellwether-worker',
    'Job bellwether-migrate',
    'Namespace bellwether',
    'Service bellwether',
  ])
  const [{ configMapGenerator, secretGenerator }]: [Kustomization] = parse(file)
  const generated = [...configMapGenerator, ...secretGenerator].map(({ name }) => name)
  const pods = manifests.flatMap(({ spec }) => spec?.template ?? [])
  for (const { spec } of pods) {
    for (const { envFrom, volumeMounts } of spec.containers) {
      assert.deepEqual(
        envFrom.map((from) => (from.configMapRef ?? from.secretRef)?.name),
        generated,
      )
      assert.deepEqual(
        volumeMounts.map(({ name }) => name),
        spec.volumes.map(({ name }) => name),
      )
    }
  }
  for (const { kind, spec } of manifests) {
    if (kind === 'Deployment') {
      assert.deepEqual(spec.selector?.matchLabels, spec.template?.metadata?.labels)
    }
    if (kind !== 'Service') continue
    const behind = pods.find(
      ({ metadata }) => JSON.stringify(metadata?.labels) === JSON.stringify(spec.selector),
    )
    const ports = behind?.spec.containers.flatMap((container) => container.ports ?? [])
    assert.deepEqual(
      spec.ports?.map(({ targetPort }) => targetPort),
      ports?.map(({ name }) => name),
    )
  }
})
