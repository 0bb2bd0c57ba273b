import { Portal } from '@mantine/core'
import { useTranslation } from '../texts/translate.ts'
import classes from './template.module.css'
import { MENU_ID, optionId, useMenu } from './token-menu-state.ts'
import type { TokenSection } from './token-search.ts'

const WIDTH = 288
const MAX_HEIGHT = 300
const GAP = 6

/** The tokens that fit what was typed after `%`, below the cursor. */
export function TokenMenu({ sections }: { sections: TokenSection[] }) {
  const { t } = useTranslation()
  const menu = useMenu()
  if (!menu) return null
  // The values may arrive while the menu is open.
  const tokens = sections.flatMap((section) => section.tokens)
  const valueOf = (name: string) => {
    const value = tokens.find((token) => token.name === name)?.value
    return value === null ? t('template.tokens.empty') : (value ?? '…')
  }
  const { rect, items, chosen, command } = menu
  const left = Math.max(8, Math.min(rect.left, window.innerWidth - WIDTH - 8))
  const isBelow = rect.bottom + GAP + MAX_HEIGHT < window.innerHeight || rect.top < MAX_HEIGHT
  const place = isBelow
    ? { top: rect.bottom + GAP }
    : { bottom: window.innerHeight - rect.top + GAP }
  return (
    <Portal>
      <div
        id={MENU_ID}
        role="listbox"
        aria-label={t('template.tokens.title')}
        className={classes.menu}
        style={{ left, width: WIDTH, maxHeight: MAX_HEIGHT, ...place }}
      >
        {items.map((token, index) => (
          <div
            key={token.name}
            id={optionId(index)}
            role="option"
            aria-selected={index === chosen}
            className={classes.option}
            // Before the editor loses the focus and closes the menu.
            onMouseDown={(event) => {
              event.preventDefault()
              command(token)
            }}
          >
            <span className={classes.tokenName}>{token.name}</span>
            <span className={`ellipsis soft ${classes.tokenValue}`} dir="auto">
              {valueOf(token.name)}
            </span>
          </div>
        ))}
      </div>
    </Portal>
  )
}
