import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { cleanUpLater } from './clean-up.ts'
import { temporaryFolder } from './folder.ts'
import { findProgram, needProgram, skipLoudly } from './programs.ts'

const root = path.join(import.meta.dirname, '../..')

/**
 * buildah and podman of Debian, with images and containers of their own in a temporary folder; undefined
 * if something is missing.
 */
export function openImages(t: TestContext) {
  if (process.getuid?.() !== 0) return void skipLoudly(t, 'only root can build images of packages')
  const needed = ['buildah', 'podman', 'mmdebstrap'].map((name) => needProgram(t, name))
  if (needed.includes(undefined)) return undefined
  const folder = temporaryFolder(t)
  const storage = ['--root', path.join(folder, 'root'), '--runroot', path.join(folder, 'run')]
  // crun does not start in some hierarchies of cgroups in which runc does.
  const runtime = findProgram('runc') ? ['--runtime', 'runc'] : []
  const buildah = (...args: string[]) => run('buildah', [...storage, ...args])
  const podman = (...args: string[]) => run('podman', [...storage, ...runtime, ...args])
  const statusOf = (...args: string[]) =>
    spawnSync('podman', [...storage, ...runtime, ...args], { stdio: 'ignore' }).status

  const build = (target: string, context: string, options: string[] = []) => {
    const image = `localhost/${target}`
    const how = ['--isolation', 'chroot', '--format', 'docker', '--quiet']
    buildah('build', ...how, ...options, '--target', target, '--tag', image, context)
    return image
  }

  return {
    /**
     * Builds the program of the Dockerfile, on bases of packages: no registry of images is needed. False if
     * this machine cannot make or start containers.
     */
    buildProgram: () => {
      const context = path.join(folder, 'bases')
      try {
        fillContext(context)
        build('debian', context)
        podman('run', '--rm', ...LIMITS, 'localhost/debian', 'true')
      } catch (error) {
        skipLoudly(t, `this machine cannot start containers: ${(error as Error).message}`)
        return false
      }
      build('node', context)
      build('build', root, ['--build-arg', 'BUILD_IMAGE=localhost/node', ...useNpmCache()])
      return true
    },
    /** Builds a target of the Dockerfile from that program. */
    build: (target: string) => {
      const program = ['--build-context', 'build=container-image://localhost/build']
      return build(target, root, ['--build-arg', 'IMAGE=localhost/debian', ...program])
    },
    /** Starts a container on the network of this machine, with the options of docs/operate/install.md. */
    start: (image: string, settings: Record<string, string>, options: string[] = []) => {
      const env = Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      const name = path.basename(image)
      podman('run', ...hardened(), ...LIMITS, ...env, ...options, '--name', name, image)
      cleanUpLater(t, () => void podman('rm', '--force', '--volumes', name))
      return {
        exec: (...command: string[]) => podman('exec', name, ...command),
        isHealthy: () => statusOf('healthcheck', 'run', name) === 0,
        stop: () => {
          podman('stop', name)
          return podman('inspect', '--format', '{{.State.ExitCode}}', name)
        },
      }
    },
  }
}

/** Without rights to raise them, the usual limits of containers cannot be set. */
const LIMITS = ['--network', 'host', '--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096']

/** The options that docs/operate/install.md names, except the port. */
function hardened() {
  const page = fs.readFileSync(path.join(root, 'docs/operate/install.md'), 'utf8')
  const command = /docker run ([^`]*?) --name bellwether ([^`]*?)--publish/s.exec(page)!
  return `${command[1]} ${command[2]}`.replaceAll('\\\n', '').trim().split(/\s+/)
}

/** Files for a base with Debian's packages, and one with the Node of this process and npm. */
function fillContext(context: string) {
  fs.mkdirSync(context)
  const suite = /^VERSION_CODENAME=(\w+)/m.exec(fs.readFileSync('/etc/os-release', 'utf8'))![1]!
  run('mmdebstrap', ['--quiet', '--variant=minbase', suite, path.join(context, 'debian.tar')])
  fs.copyFileSync(process.execPath, path.join(context, 'node'))
  const npm = path.resolve(fs.realpathSync(findProgram('npm')!), '../..')
  fs.cpSync(npm, path.join(context, 'npm'), { recursive: true })
  // This machine may trust more authorities than Debian does.
  fs.copyFileSync('/etc/ssl/certs/ca-certificates.crt', path.join(context, 'authorities.crt'))
  fs.writeFileSync(path.join(context, 'Dockerfile'), BASES)
}

const BASES = `
FROM scratch AS debian
ADD debian.tar /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

FROM debian AS node
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6
COPY node /usr/local/bin/
COPY npm /usr/local/lib/node_modules/npm
COPY authorities.crt /etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt npm_config_prefer_offline=true
`

/** Packages that this machine has are not loaded again. */
function useNpmCache() {
  const cache = run('npm', ['config', 'get', 'cache'])
  return fs.existsSync(cache) ? ['--volume', `${cache}:/root/.npm`] : []
}

function run(program: string, args: string[]) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  assert.equal(status, 0, `${program} ${args.join(' ')}: ${error ?? stderr.slice(-2_000)}`)
  return stdout.trim()
}
