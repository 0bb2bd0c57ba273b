import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'node:test'
import pg from 'pg'
import { cleanUpLater } from './clean-up.ts'
import { temporaryFolder } from './folder.ts'
import { freePort } from './pgbouncer.ts'
import { until } from './until.ts'

const NOBODY = 65534
const MEMBERS = 3
const START_MS = 180_000

type Member = { name: string; port: number; rest: number; folder: string; child?: ChildProcess }
type State = { name: string; role: string; state: string }

/**
 * Three PostgreSQL servers that Patroni manages, etcd, and HAProxy with the address of the primary. All on
 * this machine and with ports of their own.
 */
export async function startCluster(
  t: TestContext,
  { bin, isSynchronous }: { bin: string; isSynchronous: boolean },
) {
  const folder = temporaryFolder(t)
  giveToNobody(folder)
  const start = (program: string, args: string[]) => {
    const log = fs.openSync(path.join(folder, `${path.basename(program)}.log`), 'a')
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
    const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C' }
    const child = spawn(program, args, { cwd: folder, env, stdio: ['ignore', log, log], ...user })
    fs.closeSync(log)
    return child
  }

  const [etcd, etcdPeer, entry] = [await freePort(), await freePort(), await freePort()]
  const etcdChild = start('etcd', [
    '--data-dir',
    path.join(folder, 'etcd'),
    '--unsafe-no-fsync',
    '--listen-client-urls',
    local(etcd),
    '--advertise-client-urls',
    local(etcd),
    '--listen-peer-urls',
    local(etcdPeer),
  ])
  const members: Member[] = []
  for (let n = 1; n <= MEMBERS; n += 1) {
    const member = {
      name: `pg${n}`,
      port: await freePort(),
      rest: await freePort(),
      folder: path.join(folder, `pg${n}`),
    }
    fs.mkdirSync(member.folder, { mode: 0o700 })
    giveToNobody(member.folder)
    const config = configOf(member, { etcd, bin, isSynchronous })
    // JSON is YAML.
    fs.writeFileSync(`${member.folder}.yml`, JSON.stringify(config))
    members.push(member)
  }
  const startMember = (member: Member) => {
    member.child = start('patroni', [`${member.folder}.yml`])
  }
  const killMember = (member: Member) => {
    const postmaster = readPid(member)
    const children = postmaster ? childrenOf(postmaster) : []
    for (const pid of [member.child?.pid, postmaster, ...children]) kill(pid)
  }
  fs.writeFileSync(path.join(folder, 'haproxy.cfg'), proxyConfig(entry, members))
  const proxy = start('/usr/sbin/haproxy', ['-db', '-f', path.join(folder, 'haproxy.cfg')])
  cleanUpLater(t, async () => {
    for (const member of members) killMember(member)
    for (const child of [proxy, etcdChild]) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  })

  const states = async (): Promise<State[]> => {
    for (const { rest } of members) {
      const answer = await fetch(`${local(rest)}/cluster`).catch(() => undefined)
      if (answer?.ok) return ((await answer.json()) as { members: State[] }).members
    }
    return []
  }
  const isComplete = async () => {
    const found = await states()
    const running = found.filter(({ state }) => ['running', 'streaming'].includes(state))
    const isSafe = !isSynchronous || found.some(({ role }) => role === 'sync_standby')
    return running.length === MEMBERS && running.some(({ role }) => role === 'leader') && isSafe
  }
  const findLeader = async () => {
    const leader = (await states()).find(({ role }) => role === 'leader')
    return members.find(({ name }) => name === leader?.name)
  }
  const untilReplaced = (old: Member) =>
    until(async () => ![undefined, old].includes(await findLeader()), START_MS)

  startMember(members[0]!)
  await until(async () => (await findLeader()) !== undefined, START_MS)
  for (const member of members.slice(1)) startMember(member)
  await until(isComplete, START_MS)
  await prepareDatabase(members[0]!)
  return {
    url: `postgres://bellwether@127.0.0.1:${entry}/bellwether`,
    untilComplete: () => until(isComplete, START_MS),
    /** Kills the primary with its Patroni, as if the machine had lost its power. Waits for the next one. */
    killPrimary: async () => {
      const leader = (await findLeader())!
      killMember(leader)
      await untilReplaced(leader)
      return () => startMember(leader)
    },
    /** Makes another server the primary, and waits until it is. */
    switchOver: async () => {
      const leader = (await findLeader())!
      const answer = await fetch(`${local(leader.rest)}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: leader.name }),
      })
      if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`)
      await untilReplaced(leader)
    },
  }
}

const local = (port: number) => `http://127.0.0.1:${port}`

function configOf(
  { name, port, rest, folder }: Member,
  { etcd, bin, isSynchronous }: { etcd: number; bin: string; isSynchronous: boolean },
) {
  const login = (username: string) => ({ username, password: 'of-this-proof' })
  return {
    scope: 'proof',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { hosts: `127.0.0.1:${etcd}` },
    bootstrap: {
      // 20 s is the shortest time to live of Patroni.
      dcs: {
        ttl: 20,
        loop_wait: 2,
        retry_timeout: 5,
        synchronous_mode: isSynchronous,
        postgresql: { use_pg_rewind: true, remove_data_directory_on_rewind_failure: true },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums'],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      data_dir: path.join(folder, 'data'),
      bin_dir: bin,
      pgpass: path.join(folder, 'pgpass'),
      authentication: { superuser: login('postgres'), replication: login('replicator') },
      parameters: { unix_socket_directories: folder, max_connections: 200 },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
    },
    watchdog: { mode: 'off' },
  }
}

const proxyConfig = (entry: number, members: Member[]) => `
defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
  timeout check 2s
listen primary
  bind 127.0.0.1:${entry}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
${members.map(({ name, port, rest }) => `  server ${name} 127.0.0.1:${port} check port ${rest}`).join('\n')}
`

async function prepareDatabase({ port }: Member) {
  const client = new pg.Client({
    connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
  })
  await client.connect()
  await client.query('create role bellwether login createrole createdb')
  await client.query('create database bellwether owner bellwether')
  await client.end()
}

function giveToNobody(folder: string) {
  if (process.getuid?.() === 0) fs.chownSync(folder, NOBODY, NOBODY)
}

function readPid({ folder }: Member) {
  const file = path.join(folder, 'data', 'postmaster.pid')
  return fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8')) : undefined
}

function childrenOf(pid: number) {
  const file = `/proc/${pid}/task/${pid}/children`
  if (!fs.existsSync(file)) return []
  return fs.readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number)
}

function kill(pid: number | undefined) {
  try {
    if (pid) process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended already.
  }
}
