import { OBJECT_NAMES, REASONS, SUPPRESSED_REASONS } from '../../contract/reasons.ts'

const { BOUNCED, COMPLAINED, UNSUBSCRIBED } = SUPPRESSED_REASONS

/** How the status of an object is named in a reason, with `{status}` for the status. */
const statusOf = (object: string) => `the ${object}'s status is {status}`

/**
 * The reasons why a trigger or a mail ended: English, German, French. A reason can contain several of these,
 * and replies of mail servers, which are not translated.
 */
export const REASON_WORDS: [en: string, de: string, fr: string][] = [
  [
    REASONS.definitionInactive,
    'die Automation ist nicht aktiv',
    'l’automatisation n’est pas active',
  ],
  [
    REASONS.timeChanged,
    'die Zeit änderte sich kurz vor dem Auslösen; die neue steht beim Auslöser',
    'son heure a changé juste avant ; la nouvelle est indiquée sur le déclencheur',
  ],
  [
    REASONS.otherEventType,
    'die Automation gilt jetzt einem anderen Ereignis',
    'l’automatisation concerne maintenant un autre événement',
  ],
  [
    REASONS.notAskedFor,
    'die Automation verlangt es nicht mehr',
    'l’automatisation ne le demande plus',
  ],
  [REASONS.newTimePassed, 'die neue Zeit ist schon vorbei', 'sa nouvelle heure est déjà passée'],
  [
    REASONS.alreadyReminded,
    'für diese Zeit gibt es schon eine Erinnerung',
    'il y a déjà un rappel pour cette heure',
  ],
  [
    REASONS.noAnchor,
    'die Zeit, ab der gezählt wird, wurde entfernt',
    'l’heure de référence a été supprimée',
  ],
  [REASONS.bookedLate, 'nach der Zeit der Erinnerung gebucht', 'réservé après l’heure du rappel'],
  [
    REASONS.uselessWhileHeld,
    'wartete auf die Freigabe, bis es nicht mehr nützlich war',
    'a attendu l’approbation jusqu’à n’être plus utile',
  ],
  [REASONS.alreadyPast, 'die Zeit ist schon vorbei', 'son heure est déjà passée'],
  [
    REASONS.noActiveAction,
    'die Automation hat keine aktive Aktion; für eine Mail eine hinzufügen',
    'l’automatisation n’a pas d’action active ; en ajouter une pour envoyer un e-mail',
  ],
  [
    REASONS.templateInactive,
    'die Vorlage ist nicht aktiv; aktivieren oder eine andere wählen',
    'le modèle n’est pas actif ; l’activer ou en choisir un autre',
  ],
  [
    REASONS.noClient,
    'es gibt keinen Kunden, dem zu schreiben wäre',
    'il n’y a pas de client à qui écrire',
  ],
  [
    REASONS.noAddress,
    'der Empfänger hat keine E-Mail-Adresse; eine hinzufügen',
    'le destinataire n’a pas d’adresse e-mail ; en ajouter une',
  ],
  [
    REASONS.invalidAddress,
    'der Empfänger hat keine gültige E-Mail-Adresse; berichtigen',
    'le destinataire n’a pas d’adresse e-mail valable ; la corriger',
  ],
  [REASONS.businessInactive, 'der Betrieb ist nicht aktiv', 'l’entreprise n’est pas active'],
  [
    REASONS.maybeSent,
    'vielleicht zugestellt, und nicht noch einmal gesendet',
    'peut-être livré, et pas envoyé une seconde fois',
  ],
  [
    REASONS.uselessNow,
    'konnte nicht gesendet werden, solange es nützlich war',
    'n’a pas pu être envoyé tant qu’il était utile',
  ],
  [
    REASONS.serverTookNone,
    'der Mailserver nahm keine Mail an, solange diese nützlich war',
    'le serveur n’a accepté aucun e-mail tant que celui-ci était utile',
  ],
  [
    REASONS.noMailSince,
    'der Mailserver nimmt keine Mails an seit',
    'le serveur n’accepte aucun e-mail depuis',
  ],
  [
    REASONS.aboveDailyLimit,
    'der Betrieb hat seine Tagesgrenze erreicht',
    'l’entreprise a atteint sa limite du jour',
  ],
  [REASONS.quietHours, 'der Betrieb hat Ruhezeit', 'l’entreprise est en heures calmes'],
  [
    REASONS.domainPaused,
    'der Mailserver des Empfängers verlangte eine Pause',
    'le serveur du destinataire a demandé une pause',
  ],
  [
    REASONS.uselessWhilePaused,
    'alle Mails des Betriebs waren angehalten, bis es nicht mehr nützlich war',
    'tous les e-mails de l’entreprise étaient suspendus jusqu’à ce qu’il ne soit plus utile',
  ],
  [
    REASONS.mailPaused,
    'alle Mails des Betriebs sind angehalten',
    'tous les e-mails de l’entreprise sont suspendus',
  ],
  [
    BOUNCED,
    'eine frühere Mail an diese Adresse kam zurück; die Adresse berichtigen oder ihre Sperre löschen',
    'un e-mail précédent à cette adresse est revenu ; corriger l’adresse ou supprimer son blocage',
  ],
  [
    COMPLAINED,
    'der Empfänger meldete eine frühere Mail als Spam',
    'le destinataire a signalé un e-mail précédent comme spam',
  ],
  [UNSUBSCRIBED, 'der Empfänger hat sich abgemeldet', 'le destinataire s’est désabonné'],
  ['it was deleted', 'wurde gelöscht', 'a été supprimé'],
  [
    statusOf(OBJECT_NAMES.CALENDAR),
    'der Status des Termins ist {status}',
    'le statut du rendez-vous est {status}',
  ],
  [
    statusOf(OBJECT_NAMES.CLASS_SCHEDULE),
    'der Status des Kurses ist {status}',
    'le statut du cours est {status}',
  ],
  [
    statusOf(OBJECT_NAMES.INVITATION),
    'der Status der Einladung ist {status}',
    'le statut de l’invitation est {status}',
  ],
  [
    statusOf(OBJECT_NAMES.RECALL),
    'der Status der Wiedereinbestellung ist {status}',
    'le statut du rappel est {status}',
  ],
  [
    statusOf(OBJECT_NAMES.DISCLAIMER),
    'der Status des Formulars ist {status}',
    'le statut du formulaire est {status}',
  ],
  ['erased', 'gelöscht', 'effacé'],
  ['cancelled by', 'abgebrochen von', 'annulé par'],
  [
    'the definition does not select location',
    'die Automation gilt nicht dem Standort',
    'l’automatisation ne concerne pas le site',
  ],
  [
    'the definition does not select staff',
    'die Automation gilt nicht dem Mitarbeiter',
    'l’automatisation ne concerne pas le collaborateur',
  ],
  [
    'the definition does not select service',
    'die Automation gilt nicht der Leistung',
    'l’automatisation ne concerne pas la prestation',
  ],
  [
    'the definition does not select disclaimer form',
    'die Automation gilt nicht dem Formular',
    'l’automatisation ne concerne pas le formulaire',
  ],
  [
    'it has no location, and the definition selects by location',
    'hat keinen Standort, und die Automation verlangt einen',
    'n’a pas de site, et l’automatisation en demande un',
  ],
  [
    'it has no staff, and the definition selects by staff',
    'hat keinen Mitarbeiter, und die Automation verlangt einen',
    'n’a pas de collaborateur, et l’automatisation en demande un',
  ],
  [
    'it has no service, and the definition selects by service',
    'hat keine Leistung, und die Automation verlangt eine',
    'n’a pas de prestation, et l’automatisation en demande une',
  ],
  [
    'it has no tag {tag} with one of these values',
    'hat kein Merkmal {tag} mit einem dieser Werte',
    'n’a pas d’étiquette {tag} avec l’une de ces valeurs',
  ],
  [
    'the worker died before the answer came',
    'der Dienst wurde beendet, bevor die Antwort kam',
    'le service s’est arrêté avant la réponse',
  ],
  [
    'the worker died before the message ended',
    'der Dienst wurde beendet, bevor die Mail zu Ende war',
    'le service s’est arrêté avant la fin de l’e-mail',
  ],
  [
    'the worker died or lost its lease',
    'der Dienst wurde beendet oder war zu lange still',
    'le service s’est arrêté ou n’a plus répondu',
  ],
  [
    'gave up after {count} failed attempts',
    'nach {count} erfolglosen Versuchen aufgegeben',
    'abandonné après {count} tentatives sans succès',
  ],
  ['gave up after 1 attempt', 'nach 1 Versuch aufgegeben', 'abandonné après 1 tentative'],
  [
    'gave up after {count} attempts',
    'nach {count} Versuchen aufgegeben',
    'abandonné après {count} tentatives',
  ],
]
