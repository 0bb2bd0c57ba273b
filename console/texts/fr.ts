import type { en } from './en.ts'
import type { Translated } from './keys.ts'

/** The French texts of the frame around the pages and of the sign-in. */
export const fr: Translated<typeof en> = {
  navigation: {
    label: 'Navigation principale',
    today: 'Aujourd’hui',
    calendar: 'Agenda',
    clients: 'Clients',
    classes: 'Cours',
    recalls: 'Rappels de contrôle',
    campaigns: 'Invitations',
    forms: 'Formulaires',
    automations: 'Automatisations',
    templates: 'Modèles',
    activity: 'Activité',
    reports: 'Rapports',
    settings: 'Réglages',
    more: 'Plus',
    find: 'Chercher …',
    skip: 'Aller au contenu',
    failedToday: '{{count}} en échec aujourd’hui',
  },
  roles: {
    OWNER: 'Propriétaire',
    ADMINISTRATOR: 'Administration',
    LOCATION_SUPER_USER: 'Responsable de site',
    USER: 'Personnel',
    REPORTS_ONLY: 'Rapports seulement',
  },
  account: {
    signOut: 'Se déconnecter',
    useDark: 'Couleurs sombres',
    useLight: 'Couleurs claires',
  },
  health: {
    well: 'Le service fonctionne',
    noMail: 'Le serveur de messagerie n’accepte rien',
    unwell: 'Le service demande votre attention',
    unreachable: 'Le service est injoignable',
    parts: 'envoi · base de données',
    mailWaits: 'des e-mails attendent dans la file',
    ready: 'Service prêt',
  },
  offline: {
    since: 'Pas de connexion depuis {{time}}.',
    meaning:
      'Vous voyez l’état de ce moment-là ; rien ne peut être enregistré avant le retour de la connexion.',
    nextTry: 'nouvel essai dans {{count}} s',
    trying: 'nouvel essai …',
  },
  signIn: {
    title: 'Connexion',
    lede: 'avec le nom que votre administration vous a donné.',
    username: 'Nom d’utilisateur',
    password: 'Mot de passe',
    button: 'Se connecter',
    forgotten: 'Mot de passe oublié ?',
    firstStart: 'Premier démarrage ?',
    firstStartHint: 'Le terminal a affiché une fois la clé de l’opérateur.',
    makeBusiness: 'Créez votre entreprise avec cette clé',
    operator: 'Pour l’exploitant du service',
    refused: 'Le nom d’utilisateur ou le mot de passe est incorrect.',
    tooMany: 'Trop d’essais. Réessayez dans {{count}} s.',
    sentence: '<u>Un jour avant</u> un rendez-vous, envoyer un e-mail <u>au client</u>.',
    promise:
      'Écrivez la phrase une fois. Bellwether planifie chaque message quand un rendez-vous est enregistré, le déplace avec le rendez-vous, l’annule si le rendez-vous est annulé, et vous montre ce qui s’est passé.',
    apiDescription: 'Description de l’API',
  },
  errors: {
    title: 'Chargement impossible',
    list: 'Cette liste n’a pas pu être chargée',
    page: 'Cette page n’a pas pu être chargée',
    notDone: 'L’action n’a pas abouti',
    request: 'requête {{id}}',
    unavailable:
      'Le service ou sa base de données n’a pas répondu à temps. Rien n’est perdu : les messages partiront dès qu’il répondra.',
    offline: 'Le service est injoignable. Vérifiez votre connexion.',
    files:
      'Les fichiers de la page n’ont pas pu être chargés. Vérifiez votre connexion et réessayez.',
    filesGone:
      'Les fichiers de la page n’ont pas pu être chargés. Bellwether a sans doute été mis à jour : réessayez pour charger la nouvelle version.',
    forbidden: 'Votre rôle ne permet pas de voir ceci.',
    notFound: 'Cet élément n’existe pas, ou vous ne pouvez pas le voir.',
    tooMany: 'Trop de requêtes. La page réessaie d’elle-même.',
    again: 'Réessayer',
    noRight: 'Votre rôle ne permet pas d’ouvrir cette page',
    noRightHint:
      'Un propriétaire ou administrateur de l’entreprise peut l’ouvrir, ou vous donner un autre rôle.',
    toStart: 'Aller à votre première page',
    pageMissing: 'Page introuvable',
    toToday: 'Aller à Aujourd’hui',
  },
  /** By the code of the answer; the others show the words of the service. */
  problems: {
    forbidden: 'Votre rôle ne le permet pas.',
    'not-found': 'Cela n’existe plus, ou vous ne pouvez pas le voir.',
    'stale-version':
      'Quelqu’un l’a modifié entre-temps. Rechargez la page, puis refaites votre modification.',
    gone: 'Le lien a expiré ou a déjà été utilisé.',
    'body-too-large': 'C’est trop volumineux.',
    'request-timeout': 'La connexion était trop lente. Réessayez.',
    'internal-error': 'Le service a échoué. Réessayez ; son journal contient les détails.',
    unavailable: 'Le service ou sa base de données n’a pas répondu à temps. Réessayez.',
    conflict: 'Ce n’est pas possible dans cet état : {{detail}}',
    'invalid-input': 'La saisie n’est pas valable : {{detail}}',
    mirrored: 'Un flux en décide : {{detail}}',
    'too-many-mails': 'Trop d’e-mails : {{detail}}',
    'secret-key-missing': 'Le service ne peut pas enregistrer de secrets : {{detail}}',
  },
}
