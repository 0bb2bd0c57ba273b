import { createServer, type Socket } from 'node:net'

/**
 * A mail server that accepts and drops all mail, in its own process:
 * `node bench/smtp-sink.ts [delay in ms]`. Prints its port first, and then the number of mails so far
 * for each line on stdin.
 */
const delay = Number(process.argv[2] ?? 0)
let mails = 0

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  const answer = answering(socket)
  let buffered = ''
  let inMessage = false
  answer('220 sink ESMTP')
  socket.on('data', (chunk) => {
    buffered += chunk.toString('latin1')
    for (;;) {
      const end = buffered.indexOf(inMessage ? '\r\n.\r\n' : '\r\n')
      if (end < 0) return
      const line = inMessage ? '' : buffered.slice(0, end)
      buffered = buffered.slice(end + (inMessage ? 5 : 2))
      if (inMessage) {
        inMessage = false
        mails++
        answer('250 2.0.0 taken')
      } else if (/^EHLO/i.test(line)) answer('250-sink\r\n250-PIPELINING\r\n250 SIZE 50000000')
      else if (/^DATA/i.test(line)) {
        inMessage = true
        answer('354 go on')
      } else if (/^QUIT/i.test(line)) {
        answer('221 bye')
        socket.end()
      } else answer('250 ok')
    }
  })
})

/** Replies of one event-loop turn are sent together, after the delay. */
function answering(socket: Socket) {
  let pending = ''
  return (line: string) => {
    if (pending === '') {
      const flush = () => {
        const text = pending
        pending = ''
        if (socket.writable) socket.write(text)
      }
      if (delay > 0) setTimeout(flush, delay)
      else setImmediate(flush)
    }
    pending += `${line}\r\n`
  }
}

server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  console.log(typeof address === 'object' ? address?.port : '')
})
process.stdin.on('data', () => console.log(mails))
process.stdin.on('end', () => process.exit(0))
