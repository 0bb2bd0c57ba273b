import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { cleanUpLater } from '../support/clean-up.ts'
import { temporaryFolder } from '../support/folder.ts'
import { needProgram, skipLoudly } from '../support/programs.ts'
import { until } from '../support/until.ts'

const root = path.join(import.meta.dirname, '../..')

/** Building takes ten minutes and loads all packages, so `npm run test:images` sets IMAGE_TESTS. */
test('the all-in-one image is built, and starts as its own user with its database', async (t) => {
  if (process.env.IMAGE_TESTS !== 'all') {
    return skipLoudly(t, 'images are built by "npm run test:images" only')
  }
  const buildah = needProgram(t, 'buildah')
  if (!buildah) return
  const image = `localhost/bellwether-test-${process.pid}`
  // Other bases than those of the Dockerfile, such as ones made of Debian packages.
  const bases = ['BUILD_IMAGE', 'IMAGE'].flatMap((name) =>
    process.env[name] ? ['--build-arg', `${name}=${process.env[name]}`] : [],
  )
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(buildah, args, { cwd: root, encoding: 'utf8' })
    assert.equal(status, 0, stderr.slice(-2_000))
    return stdout.trim().split('\n').at(-1)!
  }
  const isolated = ['--isolation', 'chroot']
  run(
    'build',
    ...isolated,
    '--format',
    'docker',
    ...bases,
    '--target',
    'all-in-one',
    '-t',
    image,
    '.',
  )
  cleanUpLater(t, () => void run('rmi', '--force', image))
  const container = run('from', image)
  cleanUpLater(t, () => void run('rm', container))

  const data = temporaryFolder(t)
  fs.chmodSync(data, 0o777)
  const settings = ['--env', 'PORT=18281', '--env', 'HOST=127.0.0.1', '--volume', `${data}:/data`]
  const start = ['run', ...isolated, ...settings, container, '--', '/opt/bellwether/bin/start']
  const child = spawn(buildah, start, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  cleanUpLater(t, async () => {
    child.kill('SIGTERM')
    await ended
  })
  const statusOf = (place: string) =>
    fetch(`http://127.0.0.1:18281${place}`).then(
      ({ status }) => status,
      () => 0,
    )
  await until(async () => (await statusOf('/readyz')) === 200)
  assert.equal(await statusOf('/console/'), 200)
  assert.equal(fs.statSync(path.join(data, 'postgres')).uid, 10_001)
})
