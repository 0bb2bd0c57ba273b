import { spawn, type ChildProcess } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import nodemailer from 'nodemailer'
import { dkimSigner, type DkimSigner } from '../src/email/dkim.ts'
import { compileTemplate, mergeMail } from '../src/email/merge.ts'
import { buildMessage, makeMessageId } from '../src/email/message.ts'
import { SmtpMailer } from '../src/email/smtp.ts'
import { fullContext, plainTemplate } from '../test/support/mail-context.ts'

/**
 * Our mailer compared with nodemailer's pool: the same message, the same server in another process,
 * the same number of connections, in turn in one run. Ours also merges each mail from its template;
 * nodemailer gets the merged texts. `memory` sends 100,000 mails instead and prints the memory.
 */
const CONNECTIONS = 5
const ROUNDS = 9

const html =
  '<p>Dear %CLIENT_FULLNAME%, we look forward to seeing you — on %APPT_DATE_TIME%.</p>\n'.repeat(20)
const text = 'Dear %CLIENT_FULLNAME%, we look forward to seeing you on %APPT_DATE_TIME%.\n'.repeat(
  20,
)
const template = compileTemplate(
  plainTemplate({ subject: 'See you soon — %BUSINESS_NAME%', html, text }),
)
const context = fullContext()
const ready = mergeMail(template, context)

if (process.argv[2] === 'sender') {
  const [port, mails] = process.argv.slice(3).map(Number) as [number, number]
  await sendOurs(port, mails, [])
  process.exit(0)
}

if (process.argv[2] === 'memory') {
  const { port, stop } = await startSink(0)
  await watchMemory(port)
  stop()
  process.exit(0)
}

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string
const signers = [dkimSigner('harbour.example', 'one', privateKey)]

const fast = await startSink(0)
await compare(
  'without DKIM',
  2,
  () => sendPool(fast.port, 1000, false),
  () => sendOurs(fast.port, 3000, []),
)
await compare(
  'with RSA-2048 DKIM',
  3,
  () => sendPool(fast.port, 300, true),
  () => sendOurs(fast.port, 1000, signers),
)
fast.stop()

const slow = await startSink(20)
await compare(
  'server answers after 20 ms: two processes against one',
  1.6,
  () => sendProcesses(slow.port, 1, 500),
  () => sendProcesses(slow.port, 2, 500),
)
slow.stop()

/** Mails per second, and CPU milliseconds per mail if this process sends them. */
type Run = { rate: number; cpu?: number }

async function compare(
  name: string,
  wanted: number,
  base: () => Promise<Run>,
  ours: () => Promise<Run>,
) {
  const runs: [Run, Run][] = []
  await base()
  await ours()
  for (let round = 0; round < ROUNDS; round++) runs.push([await base(), await ours()])
  const ratio = median(runs.map(([a, b]) => b.rate / a.rate))
  const [a, b] = [0, 1].map((side) => {
    const rate = Math.round(median(runs.map((pair) => pair[side]!.rate)))
    const cpu =
      runs[0]?.[side]?.cpu === undefined
        ? ''
        : ` (${median(runs.map((pair) => pair[side]!.cpu!)).toFixed(2)} ms CPU)`
    return `${rate}/s${cpu}`
  })
  console.log(`${name}: ${a} against ${b}, ${ratio.toFixed(2)} times (wanted ${wanted})`)
  if (ratio < wanted) process.exitCode = 1
}

function median(values: number[]) {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

async function sendPool(port: number, mails: number, dkim: boolean) {
  const pool = nodemailer.createTransport({
    pool: true,
    host: '127.0.0.1',
    port,
    ignoreTLS: true,
    maxConnections: CONNECTIONS,
    maxMessages: 1000,
    ...(dkim ? { dkim: { domainName: 'harbour.example', keySelector: 'one', privateKey } } : {}),
  })
  const run = await timed(mails, (i) =>
    pool.sendMail({
      from: 'Harbour Clinic <hello@harbour.example>',
      to: 'Ada Okafor <ada@example.org>',
      subject: ready.subject,
      text: ready.text,
      html: ready.html,
      messageId: makeMessageId(1, i, 'mail.harbour.example'),
    }),
  )
  pool.close()
  return run
}

async function sendOurs(port: number, mails: number, dkim: DkimSigner[]) {
  const mailer = new SmtpMailer(
    { host: '127.0.0.1', port, secure: false, requireTls: false, user: null, password: null },
    { connections: CONNECTIONS, maxMailsPerConnection: 1000, dkim },
  )
  const run = await timed(mails, async (i) => {
    const { subject, text, html } = mergeMail(template, context)
    const message = buildMessage({
      messageId: makeMessageId(1, i, 'mail.harbour.example'),
      date: Temporal.Instant.fromEpochMilliseconds(1_793_700_000_000 + i),
      from: { name: 'Harbour Clinic', address: 'hello@harbour.example' },
      to: { name: 'Ada Okafor', address: 'ada@example.org' },
      cc: null,
      replyTo: null,
      subject,
      text,
      html,
      calendar: null,
      unsubscribeLink: null,
    })
    const outcome = await mailer.send({
      businessId: 1,
      from: 'hello@harbour.example',
      to: 'ada@example.org',
      message,
      beforeMessageEnd: async () => {},
    })
    if (outcome.kind !== 'sent') throw new Error(outcome.reply)
  })
  await mailer.close()
  return run
}

async function timed(mails: number, send: (i: number) => Promise<unknown>): Promise<Run> {
  let next = 0
  const started = performance.now()
  const before = process.cpuUsage()
  await Promise.all(
    Array.from({ length: CONNECTIONS * 2 }, async () => {
      while (next < mails) await send(next++)
    }),
  )
  const { user, system } = process.cpuUsage(before)
  return {
    rate: (mails / (performance.now() - started)) * 1000,
    cpu: (user + system) / 1000 / mails,
  }
}

/** Mails per second of several sender processes together, including their start. */
async function sendProcesses(port: number, processes: number, mails: number) {
  const started = performance.now()
  const senders = Array.from({ length: processes }, () =>
    spawn(process.execPath, [import.meta.filename, 'sender', String(port), String(mails)], {
      stdio: 'inherit',
    }),
  )
  const codes = await Promise.all(
    senders.map(async (sender) => (await once(sender, 'exit'))[0] as number),
  )
  if (codes.some((code) => code !== 0)) throw new Error('a sender failed')
  return { rate: ((mails * processes) / (performance.now() - started)) * 1000 }
}

async function watchMemory(port: number) {
  for (let part = 1; part <= 5; part++) {
    await sendOurs(port, 20_000, [])
    globalThis.gc?.()
    const { rss, heapUsed } = process.memoryUsage()
    console.log(
      `${part * 20_000} mails: ${Math.round(rss / 2 ** 20)} MB, heap ${Math.round(heapUsed / 2 ** 20)} MB`,
    )
  }
}

async function startSink(delay: number) {
  const sink: ChildProcess = spawn(
    process.execPath,
    [import.meta.filename.replace('deliver.bench.ts', 'smtp-sink.ts'), String(delay)],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: sink.stdout as NodeJS.ReadableStream })
  const [port] = (await once(lines, 'line')) as [string]
  return { port: Number(port), stop: () => sink.stdin?.end() }
}
