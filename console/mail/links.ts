type MailLink = { address: string; label: string }

/** The links of a mail to web pages, each once. */
export function linksOf(html: string): MailLink[] {
  const links = new Map<string, MailLink>()
  const page = new DOMParser().parseFromString(html, 'text/html')
  for (const anchor of page.querySelectorAll('a[href]')) {
    const address = anchor.getAttribute('href')!
    if (!/^https?:\/\//i.test(address) || links.has(address)) continue
    links.set(address, { address, label: anchor.textContent.trim() || address })
  }
  return [...links.values()]
}
