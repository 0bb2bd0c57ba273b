/** The key that is held for commands on this machine. */
export const commandKey = () => (/mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl')
