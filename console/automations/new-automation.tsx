import { Button, Menu } from '@mantine/core'
import { IconChevronDown, IconPencil, IconPlus } from '../components/icons.tsx'
import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from '../texts/translate.ts'
import { createByRecipe } from '../api/recipes.ts'
import { useSession } from '../api/session.ts'
import { RECIPES, type Recipe } from './recipes.ts'
import { ErrorMessage } from '../components/error-message.tsx'
import { Filled, part } from '../components/filled.tsx'

/** Starts with an empty sentence, or with a recipe that creates its mail. */
export function NewAutomation() {
  const { t } = useTranslation()
  const navigate = useNavigate()
  const { business } = useSession()
  const create = useMutation({
    mutationFn: (recipe: Recipe) => createByRecipe(recipe, t(`recipes.${recipe.name}`), business),
    onSuccess: (eventDefnId) =>
      // It is created paused: the editor shows the effect of switching it on before saving.
      navigate({
        to: '/automations/$eventDefnId',
        params: { eventDefnId: String(eventDefnId) },
        search: { on: true },
      }),
  })
  return (
    <>
      {create.error && (
        <span role="alert" className="clay small">
          <Filled
            text={t('recipes.failed', { reason: part('reason') })}
            parts={{ reason: <ErrorMessage error={create.error} /> }}
          />
        </span>
      )}
      <Menu position="bottom-end" width={300}>
        <Menu.Target>
          <Button
            loading={create.isPending}
            leftSection={<IconPlus size={16} />}
            rightSection={<IconChevronDown size={14} />}
          >
            {t('recipes.button')}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{t('recipes.label')}</Menu.Label>
          {RECIPES.map((recipe) => (
            <Menu.Item key={recipe.name} onClick={() => create.mutate(recipe)}>
              {t(`recipes.${recipe.name}`)}
            </Menu.Item>
          ))}
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconPencil size={15} />}
            onClick={() => void navigate({ to: '/automations/new' })}
          >
            {t('recipes.blank')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </>
  )
}
