/** Sentences about figures, and their parts: English, German, French. */
export const SENTENCES: [en: string, de: string, fr: string][] = [
  ['{month} had {count}', 'Der {month} hatte {count}', '{month} a compté {count}'],
  ['{month} has {count}', 'Der {month} hat {count}', '{month} compte {count}'],
  [
    '{month} has had {count} so far',
    'Der {month} hatte bisher {count}',
    '{month} a compté {count} jusqu’ici',
  ],
  ['1 appointment', '1 Termin', '1 rendez-vous'],
  ['{n} appointments', '{n} Termine', '{n} rendez-vous'],
  ['{n} slot became free', 'wurde {n} Zeit frei', '{n} créneau s’est libéré'],
  ['{n} slots became free', 'wurden {n} Zeiten frei', '{n} créneaux se sont libérés'],
  [
    '{n} more than the month before',
    '{n} mehr als im Monat davor',
    '{n} de plus que le mois d’avant',
  ],
  [
    '{n} fewer than the month before',
    '{n} weniger als im Monat davor',
    '{n} de moins que le mois d’avant',
  ],
  ['as many as the month before', 'so viele wie im Monat davor', 'autant que le mois d’avant'],
  ['{n} more than a year before', '{n} mehr als ein Jahr davor', '{n} de plus qu’un an avant'],
  ['{n} fewer than a year before', '{n} weniger als ein Jahr davor', '{n} de moins qu’un an avant'],
  ['as many as a year before', 'so viele wie ein Jahr davor', 'autant qu’un an avant'],
  [
    'the largest changes: {changes}',
    'die stärksten Veränderungen: {changes}',
    'les plus grands changements : {changes}',
  ],
  ['and {now} % were missed', 'und {now} % wurden verpasst', 'et {now} % ont été manqués'],
  [
    'and {now} % were missed after {was} %',
    'und {now} % wurden verpasst nach {was} %',
    'et {now} % ont été manqués après {was} %',
  ],
  ['{weekday} {day}', '{weekday}, der {day}.', '{weekday} {day}'],
  [
    'There are too few days with appointments to name a best and a worst.',
    'Es gibt zu wenige Tage mit Terminen, um einen besten und einen schlechtesten zu nennen.',
    'Il y a trop peu de jours avec des rendez-vous pour en nommer un meilleur et un pire.',
  ],
  [
    'The best day was {best} with {most} kept, the worst {worst} with {least}.',
    'Der beste Tag war {best} (wahrgenommene Termine: {most}), der schlechteste {worst} ({least}).',
    'Le meilleur jour a été {best} (rendez-vous honorés : {most}), le pire {worst} ({least}).',
  ],
  [
    'All {days} days with appointments were alike: {most} kept on each.',
    'Alle {days} Tage mit Terminen waren gleich: je {most} wahrgenommen.',
    'Les {days} jours avec des rendez-vous se valent (honorés chaque jour : {most}).',
  ],
  [
    '{month} had {count}, without cancelled ones.',
    'Der {month} hatte {count}, abgesagte nicht mitgezählt.',
    '{month} a compté {count}, sans les annulations.',
  ],
  [
    '{month} already has {count}, without cancelled ones.',
    'Der {month} hat schon {count}, abgesagte nicht mitgezählt.',
    '{month} compte déjà {count}, sans les annulations.',
  ],
  [
    'Reminders reached the clients of {count}, and {freed} after one.',
    'Erinnerungen erreichten die Kunden für {count}, und nach einer {freed}.',
    'Les rappels ont joint les clients pour {count}, et {freed} après un rappel.',
  ],
  [
    'Whether reminders make a difference cannot be told yet: about {needed} more appointments are needed, {group} with a reminder and {group} without, booked as early by new or by returning clients.',
    'Ob Erinnerungen einen Unterschied machen, lässt sich noch nicht sagen: Es braucht noch etwa {needed} Termine, {group} mit Erinnerung und {group} ohne, gleich früh gebucht von neuen oder von wiederkehrenden Kunden.',
    'On ne peut pas encore dire si les rappels font une différence : il faut encore environ {needed} rendez-vous, {group} avec rappel et {group} sans, réservés aussi tôt par de nouveaux clients ou par des habitués.',
  ],
  [
    'Whether reminders make a difference cannot be told yet: about {needed} more appointments are needed.',
    'Ob Erinnerungen einen Unterschied machen, lässt sich noch nicht sagen: Es braucht noch etwa {needed} Termine.',
    'On ne peut pas encore dire si les rappels font une différence : il faut encore environ {needed} rendez-vous.',
  ],
  [
    'Whether reminders make a difference cannot be told yet: more than {needed} more appointments are needed.',
    'Ob Erinnerungen einen Unterschied machen, lässt sich noch nicht sagen: Es braucht noch mehr als {needed} Termine.',
    'On ne peut pas encore dire si les rappels font une différence : il faut encore plus de {needed} rendez-vous.',
  ],
  [
    'Clients who were reached by a reminder missed their appointment less often, by {points} percentage points (99 % interval {least} to {most}), compared with clients who booked as early and were new or returning alike. This is a difference, not proof of an effect.',
    'Kunden, die eine Erinnerung erreichte, verpassten ihren Termin seltener, um {points} Prozentpunkte (99-%-Intervall {least} bis {most}), verglichen mit Kunden, die gleich früh buchten und ebenso neu oder wiederkehrend waren. Das ist ein Unterschied, kein Beweis einer Wirkung.',
    'Les clients joints par un rappel ont manqué leur rendez-vous moins souvent, de {points} points de pourcentage (intervalle à 99 % de {least} à {most}), comparés à des clients qui avaient réservé aussi tôt et étaient de même nouveaux ou habitués. C’est une différence, pas la preuve d’un effet.',
  ],
  [
    'Clients who were reached by a reminder missed their appointment more often, by {points} percentage points (99 % interval {least} to {most}), compared with clients who booked as early and were new or returning alike. This is a difference, not proof of an effect.',
    'Kunden, die eine Erinnerung erreichte, verpassten ihren Termin häufiger, um {points} Prozentpunkte (99-%-Intervall {least} bis {most}), verglichen mit Kunden, die gleich früh buchten und ebenso neu oder wiederkehrend waren. Das ist ein Unterschied, kein Beweis einer Wirkung.',
    'Les clients joints par un rappel ont manqué leur rendez-vous plus souvent, de {points} points de pourcentage (intervalle à 99 % de {least} à {most}), comparés à des clients qui avaient réservé aussi tôt et étaient de même nouveaux ou habitués. C’est une différence, pas la preuve d’un effet.',
  ],
]
