import type { ApprovalSource } from '../contract/approval.ts'
import { languageOfWords } from '../email/words.ts'
import type { Advice } from './failure-advice.ts'

/** A text for one, and a text for `{count}`. */
type Counted = { one: string; many: string }

/** The texts of mails to users of a business about failures and approvals. */
export type NoticeWords = {
  /** For dates. */
  locale: string
  why: string
  automation: string
  mails: Counted
  approval: {
    subject: Counted
    intro: string
    sources: Record<ApprovalSource, string>
    decide: string
    after: string
  }
  outage: { subject: string; waiting: Counted; reply: string; ask: string; after: string }
  failures: {
    subject: Counted
    intro: string
    times: string
    whatToDo: string
    others: string
    see: string
    after: string
  }
  advice: Record<Advice, string>
}

const en: NoticeWords = {
  locale: 'en-GB',
  why: 'You get this mail because your account asks for mails about failures. Change that at Settings, People.',
  automation: 'Automation {id}',
  mails: { one: '1 mail', many: '{count} mails' },
  approval: {
    subject: {
      one: '1 mail waits for your approval',
      many: '{count} mails wait for your approval',
    },
    intro:
      '{source} by {user} would send {mails} at once, more than the limit of {limit}. They wait until you decide.',
    sources: {
      IMPORT: 'An import',
      FIRE: 'A request to fire triggers',
      RESEND: 'A request to send mails again',
    },
    decide:
      'Release or cancel approval {id} (POST /approval/{id}/release or /cancel). The mails are listed here:',
    after: 'Nothing is sent before that. Planned reminders and single bookings do not wait.',
  },
  outage: {
    subject: 'No mail could be sent for an hour',
    waiting: {
      one: '1 mail waits since {since}, and none was accepted in the last hour.',
      many: '{count} mails wait since {since}, and none was accepted in the last hour.',
    },
    reply: 'The last answer was: {reply}',
    ask: 'Ask the operator of this installation to check the mail server. See what waits:',
    after:
      'Mails are tried again for as long as they are of use, and leave by themselves when the server is back.',
  },
  failures: {
    subject: {
      one: 'One message could not be sent',
      many: '{count} messages could not be sent',
    },
    intro: 'These messages could not be sent since the last report.',
    times: '{line} ({count} times)',
    whatToDo: 'What to do: {advice}',
    others: 'And others.',
    see: 'See whom they are for, and send them again:',
    after: 'There is one such mail a day, and none if nothing failed.',
  },
  advice: {
    ours: 'the automation itself failed; ask the operator of this installation to look at the log.',
    outage:
      'the mail server of this installation took no mail until it was too late: reach the clients by telephone, and ask the operator to check the mail server.',
    maybeSent:
      'the mail server did not answer, so the message may have arrived: ask the client, and send it again only if it did not.',
    address:
      'the mailbox does not exist: correct the address of the client, or reach them by telephone.',
    policy:
      'the server of the recipient does not trust our mails: ask the operator to check SPF, DKIM and DMARC with `bellwether doctor --mail`.',
    full: 'the mailbox is full: reach the client by telephone, and send the message again later.',
    retried:
      'the server of the recipient took no mail for days: check the domain of the address, and reach the client by telephone.',
    refused:
      'check the address; the answer of the server may say more. Send the message again then.',
  },
}

const de: NoticeWords = {
  locale: 'de',
  why: 'Sie erhalten diese E-Mail, weil Ihr Konto über Fehler benachrichtigt werden möchte. Ändern Sie das unter Einstellungen, Personen.',
  automation: 'Automation {id}',
  mails: { one: '1 E-Mail', many: '{count} E-Mails' },
  approval: {
    subject: {
      one: '1 E-Mail wartet auf Ihre Freigabe',
      many: '{count} E-Mails warten auf Ihre Freigabe',
    },
    intro:
      '{source} von {user} würde {mails} auf einmal senden, mehr als die Grenze von {limit}. Es wird nichts gesendet, bis Sie entscheiden.',
    sources: {
      IMPORT: 'Ein Import',
      FIRE: 'Ein Aufruf, Auslöser sofort auszuführen,',
      RESEND: 'Ein Aufruf, E-Mails erneut zu senden,',
    },
    decide:
      'Geben Sie Freigabe {id} frei, oder brechen Sie sie ab (POST /approval/{id}/release oder /cancel). Die E-Mails sind hier aufgeführt:',
    after:
      'Vorher wird nichts davon gesendet. Geplante Erinnerungen und einzelne Buchungen warten nicht.',
  },
  outage: {
    subject: 'Seit einer Stunde konnte keine E-Mail gesendet werden',
    waiting: {
      one: '1 E-Mail wartet seit {since}, und in der letzten Stunde wurde keine angenommen.',
      many: '{count} E-Mails warten seit {since}, und in der letzten Stunde wurde keine angenommen.',
    },
    reply: 'Die letzte Antwort war: {reply}',
    ask: 'Bitten Sie den Betreiber dieser Installation, den Mailserver zu prüfen. Das wartet:',
    after:
      'E-Mails werden so lange erneut versucht, wie sie nützlich sind, und werden von selbst gesendet, wenn der Server wieder antwortet.',
  },
  failures: {
    subject: {
      one: 'Eine Nachricht konnte nicht gesendet werden',
      many: '{count} Nachrichten konnten nicht gesendet werden',
    },
    intro: 'Diese Nachrichten konnten seit dem letzten Bericht nicht gesendet werden.',
    times: '{line} ({count}-mal)',
    whatToDo: 'Was zu tun ist: {advice}',
    others: 'Und weitere.',
    see: 'Sehen Sie, für wen sie sind, und senden Sie sie erneut:',
    after: 'Es gibt eine solche E-Mail pro Tag, und keine, wenn nichts fehlgeschlagen ist.',
  },
  advice: {
    ours: 'Die Automation selbst ist fehlgeschlagen; bitten Sie den Betreiber dieser Installation, das Protokoll anzusehen.',
    outage:
      'Der Mailserver dieser Installation nahm keine E-Mail an, bis es zu spät war: Rufen Sie die Kundinnen und Kunden an, und bitten Sie den Betreiber, den Mailserver zu prüfen.',
    maybeSent:
      'Der Mailserver antwortete nicht, die Nachricht kam also vielleicht an: Fragen Sie die Kundin oder den Kunden, und senden Sie sie nur erneut, wenn sie fehlt.',
    address:
      'Das Postfach gibt es nicht: Korrigieren Sie die Adresse, oder rufen Sie die Kundin oder den Kunden an.',
    policy:
      'Der Server der Empfängerin oder des Empfängers vertraut unseren E-Mails nicht: Bitten Sie den Betreiber, SPF, DKIM und DMARC mit `bellwether doctor --mail` zu prüfen.',
    full: 'Das Postfach ist voll: Rufen Sie die Kundin oder den Kunden an, und senden Sie die Nachricht später erneut.',
    retried:
      'Der Server der Empfängerin oder des Empfängers hat tagelang keine E-Mail angenommen: Prüfen Sie die Domain der Adresse, und rufen Sie an.',
    refused:
      'Prüfen Sie die Adresse; die Antwort des Servers sagt vielleicht mehr. Senden Sie die Nachricht dann erneut.',
  },
}

const fr: NoticeWords = {
  locale: 'fr',
  why: 'Vous recevez cet e-mail parce que votre compte demande des e-mails sur les échecs. Vous pouvez le changer sous Réglages, Personnes.',
  automation: 'Automatisation {id}',
  mails: { one: '1 e-mail', many: '{count} e-mails' },
  approval: {
    subject: {
      one: '1 e-mail attend votre approbation',
      many: '{count} e-mails attendent votre approbation',
    },
    intro:
      '{source} par {user} enverrait {mails} d’un coup, plus que la limite de {limit}. Rien n’est envoyé avant votre décision.',
    sources: {
      IMPORT: 'Une importation',
      FIRE: 'Une demande de déclenchement immédiat',
      RESEND: 'Une demande de renvoi d’e-mails',
    },
    decide:
      'Validez ou annulez l’approbation {id} (POST /approval/{id}/release ou /cancel). Les e-mails sont listés ici\u00a0:',
    after:
      'Rien n’est envoyé avant cela. Les rappels planifiés et les réservations isolées n’attendent pas.',
  },
  outage: {
    subject: 'Aucun e-mail n’a pu être envoyé depuis une heure',
    waiting: {
      one: '1 e-mail attend depuis le {since}, et aucun n’a été accepté pendant la dernière heure.',
      many: '{count} e-mails attendent depuis le {since}, et aucun n’a été accepté pendant la dernière heure.',
    },
    reply: 'La dernière réponse était\u00a0: {reply}',
    ask: 'Demandez à l’exploitant de cette installation de vérifier le serveur de messagerie. Voici ce qui attend\u00a0:',
    after:
      'Les envois sont répétés tant que les e-mails sont utiles, et partent d’eux-mêmes quand le serveur répond de nouveau.',
  },
  failures: {
    subject: {
      one: 'Un message n’a pas pu être envoyé',
      many: '{count} messages n’ont pas pu être envoyés',
    },
    intro: 'Ces messages n’ont pas pu être envoyés depuis le dernier rapport.',
    times: '{line} ({count} fois)',
    whatToDo: 'Que faire\u00a0: {advice}',
    others: 'Et d’autres.',
    see: 'Voyez à qui ils sont destinés, et renvoyez-les\u00a0:',
    after: 'Il y a un tel e-mail par jour, et aucun si rien n’a échoué.',
  },
  advice: {
    ours: 'l’automatisation elle-même a échoué\u00a0; demandez à l’exploitant de cette installation de consulter le journal.',
    outage:
      'le serveur de messagerie de cette installation n’a accepté aucun e-mail à temps\u00a0: joignez les clients par téléphone, et demandez à l’exploitant de vérifier le serveur.',
    maybeSent:
      'le serveur de messagerie n’a pas répondu, le message est donc peut-être arrivé\u00a0: demandez au client, et ne le renvoyez que s’il ne l’a pas reçu.',
    address:
      'la boîte aux lettres n’existe pas\u00a0: corrigez l’adresse du client, ou joignez-le par téléphone.',
    policy:
      'le serveur du destinataire ne fait pas confiance à nos e-mails\u00a0: demandez à l’exploitant de vérifier SPF, DKIM et DMARC avec `bellwether doctor --mail`.',
    full: 'la boîte aux lettres est pleine\u00a0: joignez le client par téléphone, et renvoyez le message plus tard.',
    retried:
      'le serveur du destinataire n’a accepté aucun e-mail pendant des jours\u00a0: vérifiez le domaine de l’adresse, et joignez le client par téléphone.',
    refused:
      'vérifiez l’adresse\u00a0; la réponse du serveur en dit peut-être plus. Renvoyez ensuite le message.',
  },
}

const WORDS: Record<string, NoticeWords> = { en, de, fr }

export const noticeWordsFor = (language: string | null) => WORDS[languageOfWords(language)] ?? en
