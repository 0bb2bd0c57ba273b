/** False also where the service cannot be reached at all. */
export async function isReady(): Promise<boolean> {
  return fetch('/readyz').then(
    (answer) => answer.ok,
    () => false,
  )
}
