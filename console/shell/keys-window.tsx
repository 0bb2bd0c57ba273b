import { Modal, Switch } from '@mantine/core'
import { Fragment, useState } from 'react'
import { useTranslation, type Translate } from '../texts/translate.ts'
import { areSingleKeysOn, switchSingleKeys } from './keys.ts'
import classes from './keys-window.module.css'
import type { NavigationItem } from './navigation.ts'
import { commandKey } from './platform.ts'

type Props = { pages: NavigationItem[]; onClose: () => void }

/** Lists all shortcuts, with a switch for the single-character ones. */
export function KeysWindow({ pages, onClose }: Props) {
  const { t } = useTranslation()
  const [isOn, setOn] = useState(areSingleKeysOn)
  return (
    <Modal
      opened
      onClose={onClose}
      title={t('keys.title')}
      size={720}
      centered
      classNames={{ title: classes.title! }}
      closeButtonProps={{ 'aria-label': t('keys.close') }}
    >
      <div className={classes.groups}>
        {keyGroups(pages, t).map((group) => (
          <section key={group.title}>
            <h3 className="eyebrow">{group.title}</h3>
            <dl className={classes.keys}>
              {group.keys.map(({ keys, does }) => (
                <Fragment key={does}>
                  <dt>
                    {keys.map((key) => (
                      <kbd key={key}>{key}</kbd>
                    ))}
                  </dt>
                  <dd>{does}</dd>
                </Fragment>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <Switch
        label={t('keys.singleKeys')}
        description={t('keys.singleKeysHint')}
        styles={{ description: { color: 'var(--soft)' } }}
        checked={isOn}
        onChange={({ currentTarget: { checked } }) => {
          switchSingleKeys(checked)
          setOn(checked)
        }}
      />
    </Modal>
  )
}

const keyGroups = (pages: Props['pages'], t: Translate) => [
  {
    title: t('keys.everywhere'),
    keys: [
      { keys: [commandKey(), 'K'], does: t('keys.palette') },
      { keys: ['/'], does: t('keys.find') },
      { keys: ['?'], does: t('keys.help') },
      { keys: ['Esc'], does: t('keys.close') },
      { keys: [commandKey(), 'S'], does: t('keys.save') },
      { keys: [commandKey(), 'P'], does: t('keys.print') },
      { keys: ['B'], does: t('keys.book') },
      { keys: ['N'], does: t('keys.new') },
    ],
  },
  {
    title: t('words.goTo'),
    keys: pages.map(({ key, name }) => ({
      keys: ['G', key.toUpperCase()],
      does: t(`navigation.${name}`),
    })),
  },
  {
    title: t('keys.lists'),
    keys: [
      { keys: ['J'], does: t('keys.next') },
      { keys: ['K'], does: t('keys.previous') },
      { keys: ['Enter'], does: t('words.openInSentence') },
      { keys: ['Space'], does: t('keys.peek') },
      { keys: ['X'], does: t('keys.choose') },
      { keys: ['R'], does: t('keys.sendAgain') },
      { keys: ['Z'], does: t('keys.undo') },
      { keys: ['E'], does: t('keys.edit') },
      { keys: ['['], does: t('keys.dayBefore') },
      { keys: [']'], does: t('keys.dayAfter') },
      { keys: ['T'], does: t('keys.today') },
      { keys: ['C'], does: t('keys.confirmed') },
      { keys: ['A'], does: t('keys.arrived') },
      { keys: ['M'], does: t('keys.noShow') },
    ],
  },
]
