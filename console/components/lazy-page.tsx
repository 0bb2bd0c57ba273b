import { use, type ComponentType } from 'react'

/** The files of a page could not be loaded. */
export class FilesError extends Error {
  override readonly name = 'FilesError'
  /** The service answers: the files are gone, as after an update. Only a reload finds the new ones. */
  readonly areGone: boolean

  constructor(areGone: boolean, cause: unknown) {
    super('The files of the page could not be loaded.', { cause })
    this.areGone = areGone
  }
}

/**
 * A page that is loaded when it is opened. The router's own loader reloads the console after a
 * failure; without a connection the browser would replace it by its error page.
 */
export function lazyPage<Name extends string>(
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
) {
  let Page: ComponentType | undefined
  let error: FilesError | undefined
  let loading: Promise<void> | undefined
  const loadOnce = async () => {
    try {
      if (error) await reloadStyles()
      Page = (await load())[name]
      error = undefined
    } catch (cause) {
      error = new FilesError(await isServiceReachable(), cause)
      loading = undefined
    }
  }
  const preload = () => (loading ??= loadOnce())
  function LazyPage() {
    if (error) throw error
    if (!Page) use(preload())
    return Page && <Page />
  }
  return Object.assign(LazyPage, { preload })
}

export const isServiceReachable = () =>
  fetch('/console/', { method: 'HEAD', cache: 'no-store' }).then(
    ({ ok }) => ok,
    () => false,
  )

/** Loads the stylesheets again that failed: the loader of Vite adds each one only once. */
async function reloadStyles() {
  const links = document.querySelectorAll<HTMLLinkElement>('link[rel=stylesheet]')
  await Promise.all([...links].filter(({ sheet }) => !sheet).map(reloadStyle))
}

const reloadStyle = (failed: HTMLLinkElement) =>
  new Promise((resolve, reject) => {
    const link = failed.cloneNode() as HTMLLinkElement
    link.addEventListener('load', resolve)
    link.addEventListener('error', reject)
    failed.replaceWith(link)
  })
