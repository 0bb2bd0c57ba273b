import { useQuery } from '@tanstack/react-query'
import { Failure, Loading } from './states.tsx'

type Props = {
  /** The URL of the HTML of the mail. */
  address: string
  title: string
  className: string | undefined
}

/** A mail in a sandboxed frame, always on white: scripts, remote content and navigation are blocked. */
export function MailFrame({ address, title, className }: Props) {
  const { data, error, refetch } = useQuery({
    queryKey: ['emails', 'frame', address],
    queryFn: async ({ signal }) => {
      const answer = await fetch(address, { signal })
      if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`)
      return answer.text()
    },
    placeholderData: (previous) => previous,
  })
  if (error && !data) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading lines={5} />
  return <iframe className={className} title={title} sandbox="" srcDoc={framedMail(data)} />
}

type Scheme = 'light' | 'dark'

const INK: Record<Scheme, string> = { light: '#1b2824', dark: '#e8ede9' }

/** Adds the content policy of mails, the font of mail programs, and the colours of one scheme. */
export const framedMail = (html: string, scheme: Scheme = 'light') =>
  html
    .replace(
      /\(prefers-color-scheme:\s*dark\)/g,
      scheme === 'dark' ? '(width >= 0px)' : '(width < 0px)',
    )
    .replace(/(color-scheme(?:" content="|:))light dark/g, `$1${scheme}`)
    .replace(
      '<head>',
      `<head><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`,
    )
    .replace(
      '<body>',
      `<body style="margin:16px 18px;font:15px/1.55 Arial,Helvetica,sans-serif;color:${INK[scheme]};overflow-wrap:anywhere">`,
    )
