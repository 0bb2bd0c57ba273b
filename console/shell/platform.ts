/** The modifier key for commands on this platform. */
export const commandKey = () => (/mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl')
