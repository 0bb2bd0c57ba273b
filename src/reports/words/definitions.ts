/** Descriptions of reports and definitions of figures: English, German, French. */
export const DEFINITIONS: [en: string, de: string, fr: string][] = [
  // Notes
  [
    '{label} is left out: with a filter by {filter} it would have no meaning.',
    '{label} fehlt: Mit einem Filter nach {filter} hätte es keine Bedeutung.',
    '{label} est omis : avec un filtre par {filter}, cela n’aurait pas de sens.',
  ],
  [
    'Nothing is known of the period before, so no change is shown.',
    'Über den Zeitraum davor ist nichts bekannt, daher wird keine Veränderung gezeigt.',
    'On ne sait rien de la période d’avant, aucun changement n’est donc indiqué.',
  ],
  [
    'The data begins on {day}, in the period before, so no change is shown.',
    'Die Daten beginnen am {day}, im Zeitraum davor, daher wird keine Veränderung gezeigt.',
    'Les données commencent le {day}, dans la période d’avant, aucun changement n’est donc indiqué.',
  ],
  [
    'Invitations belong to the whole business: a report of some locations or staff has none.',
    'Einladungen gehören zum ganzen Unternehmen: Ein Bericht über einzelne Standorte oder Mitarbeitende hat keine.',
    'Les invitations concernent toute l’entreprise : un rapport sur certains sites ou certaines personnes n’en a pas.',
  ],
  // Measures
  [
    'All appointments that begin in the period, in any status.',
    'Alle Termine, die im Zeitraum beginnen, in jedem Status.',
    'Tous les rendez-vous qui commencent dans la période, quel que soit leur statut.',
  ],
  [
    'Appointments that have begun and whose status counts as kept.',
    'Termine, die begonnen haben und deren Status als wahrgenommen zählt.',
    'Rendez-vous commencés dont le statut compte comme honoré.',
  ],
  [
    'Appointments that have begun and whose status counts as missed.',
    'Termine, die begonnen haben und deren Status als verpasst zählt.',
    'Rendez-vous commencés dont le statut compte comme manqué.',
  ],
  [
    'Appointments whose status counts as cancelled.',
    'Termine, deren Status als abgesagt zählt.',
    'Rendez-vous dont le statut compte comme annulé.',
  ],
  [
    'Appointments that have begun and whose status does not say how they ended.',
    'Termine, die begonnen haben und deren Status nicht sagt, wie sie endeten.',
    'Rendez-vous commencés dont le statut ne dit pas comment ils se sont terminés.',
  ],
  [
    'Appointments that have not begun and were not cancelled.',
    'Termine, die nicht begonnen haben und nicht abgesagt sind.',
    'Rendez-vous qui n’ont pas commencé et ne sont pas annulés.',
  ],
  [
    'The length of all appointments that were not cancelled.',
    'Die Dauer aller nicht abgesagten Termine.',
    'La durée de tous les rendez-vous non annulés.',
  ],
  [
    'The time in which a member of staff had an appointment or a class that was not cancelled; overlaps count once.',
    'Die Zeit, in der jemand einen nicht abgesagten Termin oder Kurs hatte; Überschneidungen zählen einmal.',
    'Le temps pendant lequel une personne avait un rendez-vous ou un cours non annulé ; les chevauchements comptent une fois.',
  ],
  [
    'The working hours of the staff at these locations, with their days off and special hours; overlaps count once.',
    'Die Arbeitszeiten der Mitarbeitenden an diesen Standorten, mit freien Tagen und besonderen Zeiten; Überschneidungen zählen einmal.',
    'Les heures de travail du personnel sur ces sites, avec congés et horaires spéciaux ; les chevauchements comptent une fois.',
  ],
  [
    'The prices of all appointments, in any status, at the time of booking.',
    'Die Preise aller Termine, in jedem Status, bei der Buchung.',
    'Les prix de tous les rendez-vous, quel que soit leur statut, à la réservation.',
  ],
  [
    'The prices of kept appointments at the time of booking.',
    'Die Preise wahrgenommener Termine bei der Buchung.',
    'Les prix des rendez-vous honorés, à la réservation.',
  ],
  [
    'The prices of missed appointments at the time of booking.',
    'Die Preise verpasster Termine bei der Buchung.',
    'Les prix des rendez-vous manqués, à la réservation.',
  ],
  [
    'The prices of cancelled appointments at the time of booking.',
    'Die Preise abgesagter Termine bei der Buchung.',
    'Les prix des rendez-vous annulés, à la réservation.',
  ],
  [
    'The prices of appointments that have begun and whose status does not say how they ended.',
    'Die Preise der Termine, die begonnen haben und deren Status nicht sagt, wie sie endeten.',
    'Les prix des rendez-vous commencés dont le statut ne dit pas comment ils se sont terminés.',
  ],
  [
    'The prices of appointments that have not begun and were not cancelled.',
    'Die Preise der Termine, die nicht begonnen haben und nicht abgesagt sind.',
    'Les prix des rendez-vous qui n’ont pas commencé et ne sont pas annulés.',
  ],
  [
    'Classes that begin in the period and were not cancelled.',
    'Kurse, die im Zeitraum beginnen und nicht abgesagt wurden.',
    'Cours qui commencent dans la période et n’ont pas été annulés.',
  ],
  [
    'Places taken in classes that were not cancelled; a student in two classes counts twice.',
    'Belegte Plätze in nicht abgesagten Kursen; wer in zwei Kursen ist, zählt zweimal.',
    'Places prises dans les cours non annulés ; qui suit deux cours compte deux fois.',
  ],
  [
    'The places of classes that were not cancelled, if their number is known.',
    'Die Plätze nicht abgesagter Kurse, wenn ihre Zahl bekannt ist.',
    'Les places des cours non annulés, si leur nombre est connu.',
  ],
  [
    'Kept appointments as a share of all whose time has come, also cancelled ones.',
    'Anteil der wahrgenommenen Termine an allen, deren Zeit gekommen ist, auch an abgesagten.',
    'Part des rendez-vous honorés parmi tous ceux dont l’heure est venue, annulés compris.',
  ],
  [
    'Missed appointments as a share of kept and missed ones.',
    'Anteil der verpassten Termine an den wahrgenommenen und verpassten.',
    'Part des rendez-vous manqués parmi les honorés et les manqués.',
  ],
  // 100 to 106
  [
    'The last month of the period on one page: what changed and where, what is booked next, and what the reminders did.',
    'Der letzte Monat des Zeitraums auf einer Seite: was sich wo geändert hat, was als Nächstes gebucht ist und was die Erinnerungen bewirkten.',
    'Le dernier mois de la période sur une page : ce qui a changé et où, ce qui est réservé ensuite et ce qu’ont fait les rappels.',
  ],
  [
    'Appointments of the month after that were not cancelled.',
    'Nicht abgesagte Termine des Monats danach.',
    'Rendez-vous non annulés du mois suivant.',
  ],
  [
    'All appointments that begin in the period, ordered by time.',
    'Alle Termine, die im Zeitraum beginnen, nach Zeit geordnet.',
    'Tous les rendez-vous qui commencent dans la période, par ordre d’heure.',
  ],
  [
    'One line for each day, or for each month of a long period: the number of appointments, their outcomes and the revenue.',
    'Eine Zeile für jeden Tag oder für jeden Monat eines langen Zeitraums: Zahl der Termine, wie sie endeten und der Umsatz.',
    'Une ligne par jour, ou par mois d’une longue période : le nombre de rendez-vous, leur issue et le chiffre d’affaires.',
  ],
  [
    'The appointments and classes of each member of staff that were not cancelled, by time, with a page for each person.',
    'Die nicht abgesagten Termine und Kurse aller Mitarbeitenden, nach Zeit, mit einer Seite je Person.',
    'Les rendez-vous et cours non annulés de chaque personne, par heure, une page par personne.',
  ],
  [
    'All appointments and classes that begin in the period and were not cancelled.',
    'Alle Termine und Kurse, die im Zeitraum beginnen und nicht abgesagt wurden.',
    'Tous les rendez-vous et cours qui commencent dans la période et n’ont pas été annulés.',
  ],
  [
    'Members of staff with at least one of them.',
    'Mitarbeitende mit mindestens einem davon.',
    'Personnes qui en ont au moins un.',
  ],
  [
    'The length of these appointments and classes.',
    'Die Dauer dieser Termine und Kurse.',
    'La durée de ces rendez-vous et cours.',
  ],
  [
    'Appointments of clients who had none before that was not cancelled.',
    'Termine von Kunden, die zuvor keinen nicht abgesagten hatten.',
    'Rendez-vous de clients qui n’en avaient pas eu de non annulé avant.',
  ],
  [
    'How many appointments were booked on each day, or in each month of a long period, and how long before they begin.',
    'Wie viele Termine an jedem Tag oder in jedem Monat eines langen Zeitraums gebucht wurden, und wie lange vor Beginn.',
    'Combien de rendez-vous ont été réservés chaque jour, ou chaque mois d’une longue période, et combien de temps à l’avance.',
  ],
  [
    'Appointments that were booked in the period, whenever they begin, in any status.',
    'Termine, die im Zeitraum gebucht wurden, wann immer sie beginnen, in jedem Status.',
    'Rendez-vous réservés dans la période, quels que soient leur date et leur statut.',
  ],
  [
    'Half of the bookings were made at most this many days before the day of the appointment. Those that were entered afterwards, after the appointment had begun, do not count.',
    'Die Hälfte der Buchungen erfolgte höchstens so viele Tage vor dem Tag des Termins. Nachträglich erfasste zählen nicht.',
    'La moitié des réservations ont été faites au plus tant de jours avant le rendez-vous. Celles saisies après coup ne comptent pas.',
  ],
  [
    'Bookings for an appointment on the same day as a share of all that were made before it began.',
    'Anteil der Buchungen für denselben Tag an allen, die vor Beginn gemacht wurden.',
    'Part des réservations pour le jour même parmi toutes celles faites avant le début.',
  ],
  [
    'The share of these bookings whose status counts as cancelled now.',
    'Der Anteil dieser Buchungen, deren Status jetzt als abgesagt zählt.',
    'La part de ces réservations dont le statut compte maintenant comme annulé.',
  ],
  [
    'The prices of the appointments that were booked in the period, in any status.',
    'Die Preise der im Zeitraum gebuchten Termine, in jedem Status.',
    'Les prix des rendez-vous réservés dans la période, quel que soit leur statut.',
  ],
  [
    'The weekdays and hours at which appointments begin.',
    'Die Wochentage und Stunden, zu denen Termine beginnen.',
    'Les jours et heures auxquels les rendez-vous commencent.',
  ],
  [
    'The hour of the week in which most appointments begin that were not cancelled, and how many.',
    'Die Stunde der Woche, in der die meisten nicht abgesagten Termine beginnen, und wie viele.',
    'L’heure de la semaine où commencent le plus de rendez-vous non annulés, et combien.',
  ],
  [
    'The share of appointments that were not cancelled that begins in the busiest hour of the week.',
    'Der Anteil der nicht abgesagten Termine, der in der vollsten Stunde der Woche beginnt.',
    'La part des rendez-vous non annulés qui commence à l’heure la plus chargée de la semaine.',
  ],
  [
    'The number of hours of the week (of 168) with at least one appointment that was not cancelled.',
    'Die Zahl der Stunden der Woche (von 168) mit mindestens einem nicht abgesagten Termin.',
    'Le nombre d’heures de la semaine (sur 168) avec au moins un rendez-vous non annulé.',
  ],
  [
    'What is booked from now to the end of the period, and how much working time is free.',
    'Was von jetzt bis zum Ende des Zeitraums gebucht ist und wie viel Arbeitszeit frei ist.',
    'Ce qui est réservé d’ici la fin de la période, et combien de temps de travail est libre.',
  ],
  [
    'Working time from now to the end of the period in which a member of staff has no appointment and no class.',
    'Arbeitszeit von jetzt bis zum Ende des Zeitraums ohne Termin und ohne Kurs.',
    'Temps de travail d’ici la fin de la période sans rendez-vous ni cours.',
  ],
  [
    'The share of that working time that is taken.',
    'Der Anteil dieser Arbeitszeit, der belegt ist.',
    'La part de ce temps de travail qui est prise.',
  ],
  // 201 to 206
  [
    'Who did not come, what it cost and how often they missed appointments before.',
    'Wer nicht kam, was es kostete und wie oft zuvor Termine verpasst wurden.',
    'Qui n’est pas venu, ce que cela a coûté et combien d’absences il y avait eu avant.',
  ],
  [
    'The number of clients who missed at least one appointment.',
    'Die Zahl der Kunden, die mindestens einen Termin verpassten.',
    'Le nombre de clients qui ont manqué au moins un rendez-vous.',
  ],
  [
    'All cancelled appointments of the period, with the notice that was given.',
    'Alle abgesagten Termine des Zeitraums, mit der eingehaltenen Frist.',
    'Tous les rendez-vous annulés de la période, avec le préavis donné.',
  ],
  [
    'Cancelled appointments as a share of all appointments of the period.',
    'Anteil der abgesagten Termine an allen Terminen des Zeitraums.',
    'Part des rendez-vous annulés parmi tous ceux de la période.',
  ],
  [
    'The share of cancellations that came less than 24 hours before the start or later, of those whose time is known. An appointment that was saved as cancelled from the beginning has no notice.',
    'Der Anteil der Absagen, die weniger als 24 Stunden vor Beginn oder später kamen, von denen mit bekannter Zeit. Ein Termin, der von Anfang an abgesagt gespeichert wurde, hat keine Frist.',
    'La part des annulations venues moins de 24 heures avant le début ou plus tard, parmi celles dont l’heure est connue. Un rendez-vous enregistré annulé dès le départ n’a pas de préavis.',
  ],
  [
    'Half of the cancellations came with more notice than this, half with less.',
    'Die Hälfte der Absagen kam mit längerer Frist, die Hälfte mit kürzerer.',
    'La moitié des annulations sont venues avec plus de préavis, l’autre avec moins.',
  ],
  [
    'Every change of the status of an appointment in the period: from what to what, when and by whom.',
    'Jede Änderung des Status eines Termins im Zeitraum: von was zu was, wann und durch wen.',
    'Chaque changement de statut d’un rendez-vous dans la période : de quoi à quoi, quand et par qui.',
  ],
  [
    'Changes of the status of an appointment in the period, whenever it begins. The status that it was booked with is not a change. A filter by status is one by the status after the change.',
    'Änderungen des Status eines Termins im Zeitraum, wann immer er beginnt. Der Status bei der Buchung ist keine Änderung. Ein Filter nach Status meint den Status nach der Änderung.',
    'Changements de statut d’un rendez-vous dans la période, quelle que soit sa date. Le statut de la réservation n’est pas un changement. Un filtre par statut porte sur le statut après le changement.',
  ],
  [
    'Appointments whose status changed in the period at least once.',
    'Termine, deren Status sich im Zeitraum mindestens einmal änderte.',
    'Rendez-vous dont le statut a changé au moins une fois dans la période.',
  ],
  [
    'Changes to a status that counts as cancelled, made in the period. Cancelled appointments of other reports are those that begin in the period.',
    'Änderungen im Zeitraum zu einem Status, der als abgesagt zählt. Abgesagte Termine anderer Berichte sind jene, die im Zeitraum beginnen.',
    'Changements, faits dans la période, vers un statut qui compte comme annulé. Les rendez-vous annulés des autres rapports sont ceux qui commencent dans la période.',
  ],
  [
    'Changes of a status that already said how the appointment ended, to one that counts as something else.',
    'Änderungen eines Status, der schon sagte, wie der Termin endete, zu einem, der als etwas anderes zählt.',
    'Changements d’un statut qui disait déjà comment le rendez-vous s’était terminé, vers un autre qui compte autrement.',
  ],
  [
    'Clients who missed an appointment in the period, and not for the first time.',
    'Kunden, die im Zeitraum einen Termin verpassten, und nicht zum ersten Mal.',
    'Clients qui ont manqué un rendez-vous dans la période, et pas pour la première fois.',
  ],
  [
    'Clients who missed an appointment in the period and have missed two or more until its end.',
    'Kunden, die im Zeitraum einen Termin verpassten und bis zu dessen Ende zwei oder mehr.',
    'Clients qui ont manqué un rendez-vous dans la période et deux ou plus jusqu’à sa fin.',
  ],
  [
    'Appointments of the period that these clients missed.',
    'Termine des Zeitraums, die diese Kunden verpassten.',
    'Rendez-vous de la période que ces clients ont manqués.',
  ],
  [
    'Their no-shows as a share of all no-shows of the period.',
    'Ihr Anteil an allen Ausfällen des Zeitraums.',
    'Leur part de toutes les absences de la période.',
  ],
  [
    'These clients with an appointment that has not begun and was not cancelled.',
    'Diese Kunden mit einem Termin, der nicht begonnen hat und nicht abgesagt ist.',
    'Ces clients avec un rendez-vous qui n’a pas commencé et n’est pas annulé.',
  ],
  [
    'Cancelled appointments whose time was not booked again.',
    'Abgesagte Termine, deren Zeit nicht neu gebucht wurde.',
    'Rendez-vous annulés dont le créneau n’a pas été repris.',
  ],
  [
    'Cancelled appointments that would have begun, and in whose time the member of staff had no other appointment and no class.',
    'Abgesagte Termine, die begonnen hätten und in deren Zeit die Person keinen anderen Termin und keinen Kurs hatte.',
    'Rendez-vous annulés qui auraient commencé, et pendant lesquels la personne n’avait ni autre rendez-vous ni cours.',
  ],
  [
    'The length of these appointments.',
    'Die Dauer dieser Termine.',
    'La durée de ces rendez-vous.',
  ],
  [
    'The share of cancelled appointments whose time was booked again.',
    'Der Anteil der abgesagten Termine, deren Zeit neu gebucht wurde.',
    'La part des rendez-vous annulés dont le créneau a été repris.',
  ],
  [
    'Cancelled appointments of the future whose time is still free.',
    'Abgesagte künftige Termine, deren Zeit noch frei ist.',
    'Rendez-vous futurs annulés dont le créneau est encore libre.',
  ],
  [
    'Appointments that are not closed as a share of all that have begun and were not cancelled.',
    'Anteil der noch offenen Termine an allen, die begonnen haben und nicht abgesagt wurden.',
    'Part des rendez-vous non clôturés parmi tous ceux commencés et non annulés.',
  ],
  [
    'Full days since the beginning of the oldest one of the period.',
    'Volle Tage seit dem Beginn des ältesten im Zeitraum.',
    'Jours entiers depuis le début du plus ancien de la période.',
  ],
  // 301, 302, 401, 402
  [
    'The share of the working hours of each member of staff that was booked.',
    'Der Anteil der Arbeitszeit aller Mitarbeitenden, der gebucht war.',
    'La part des heures de travail de chaque personne qui était réservée.',
  ],
  [
    'Busy time as a share of working time, all staff together.',
    'Anteil der belegten Zeit an der Arbeitszeit, alle zusammen.',
    'Part du temps occupé dans le temps de travail, tout le personnel ensemble.',
  ],
  [
    'For each member of staff: appointments, outcomes, clients, revenue, and how many visits led to the next booking.',
    'Für alle Mitarbeitenden: Termine, wie sie endeten, Kunden, Umsatz und wie viele Besuche zur nächsten Buchung führten.',
    'Pour chaque personne : rendez-vous, issues, clients, chiffre d’affaires, et combien de visites ont mené à la réservation suivante.',
  ],
  [
    'The share of kept appointments whose client has a later appointment that was booked at most 7 days after the visit and was not cancelled.',
    'Der Anteil wahrgenommener Termine, deren Kunde einen späteren, nicht abgesagten Termin hat, der höchstens 7 Tage nach dem Besuch gebucht wurde.',
    'La part des rendez-vous honorés dont le client a un rendez-vous ultérieur non annulé, réservé au plus 7 jours après la visite.',
  ],
  [
    'Clients with an appointment in the period that was not cancelled; a client of two members of staff counts once here and once for each.',
    'Kunden mit einem nicht abgesagten Termin im Zeitraum; wer bei zwei Personen war, zählt hier einmal und bei jeder einmal.',
    'Clients avec un rendez-vous non annulé dans la période ; un client de deux personnes compte une fois ici et une fois pour chacune.',
  ],
  [
    'How often each service was booked and how it ended, the most popular first.',
    'Wie oft jede Leistung gebucht wurde und wie sie endete, die beliebteste zuerst.',
    'Combien de fois chaque prestation a été réservée et son issue, la plus demandée d’abord.',
  ],
  [
    'Services with at least one appointment in the period, in any status.',
    'Leistungen mit mindestens einem Termin im Zeitraum, in jedem Status.',
    'Prestations avec au moins un rendez-vous dans la période, quel que soit son statut.',
  ],
  [
    'The share of all appointments that the most popular service has.',
    'Der Anteil der beliebtesten Leistung an allen Terminen.',
    'La part de la prestation la plus demandée parmi tous les rendez-vous.',
  ],
  [
    'How often each service was booked at each location, and how it ended.',
    'Wie oft jede Leistung an jedem Standort gebucht wurde und wie sie endete.',
    'Combien de fois chaque prestation a été réservée sur chaque site, et son issue.',
  ],
  // 501 to 505
  [
    'All clients with an appointment in the period, with its outcome.',
    'Alle Kunden mit einem Termin im Zeitraum, und wie er endete.',
    'Tous les clients avec un rendez-vous dans la période, et son issue.',
  ],
  [
    'Clients with an appointment in the period, in any status.',
    'Kunden mit einem Termin im Zeitraum, in jedem Status.',
    'Clients avec un rendez-vous dans la période, quel que soit son statut.',
  ],
  [
    'Clients whose first appointment ever that was not cancelled is in the period.',
    'Kunden, deren allererster nicht abgesagter Termin im Zeitraum liegt.',
    'Clients dont le tout premier rendez-vous non annulé est dans la période.',
  ],
  [
    'Of the clients with an appointment that was not cancelled: the share who had one before the period.',
    'Von den Kunden mit einem nicht abgesagten Termin der Anteil, der vor dem Zeitraum schon einen hatte.',
    'Parmi les clients avec un rendez-vous non annulé, la part qui en avait un avant la période.',
  ],
  [
    'The prices of kept appointments, divided by the number of clients.',
    'Die Preise wahrgenommener Termine, geteilt durch die Zahl der Kunden.',
    'Les prix des rendez-vous honorés, divisés par le nombre de clients.',
  ],
  [
    'One line for each day, or for each month of a long period: how many clients were new, and how many had come before.',
    'Eine Zeile für jeden Tag oder für jeden Monat eines langen Zeitraums: wie viele Kunden neu waren und wie viele schon da waren.',
    'Une ligne par jour, ou par mois d’une longue période : combien de clients étaient nouveaux, et combien étaient déjà venus.',
  ],
  [
    'Clients with an appointment in the period that was not cancelled; in a line, those of its day or month.',
    'Kunden mit einem nicht abgesagten Termin im Zeitraum; in einer Zeile jene ihres Tages oder Monats.',
    'Clients avec un rendez-vous non annulé dans la période ; dans une ligne, ceux de son jour ou mois.',
  ],
  [
    'Clients whose first appointment ever that was not cancelled is in the period; in a line, in its day or month.',
    'Kunden, deren allererster nicht abgesagter Termin im Zeitraum liegt; in einer Zeile in ihrem Tag oder Monat.',
    'Clients dont le tout premier rendez-vous non annulé est dans la période ; dans une ligne, dans son jour ou mois.',
  ],
  [
    'All other clients. A client who comes in several months is in several lines.',
    'Alle anderen Kunden. Wer in mehreren Monaten kommt, steht in mehreren Zeilen.',
    'Tous les autres clients. Un client qui vient plusieurs mois figure dans plusieurs lignes.',
  ],
  [
    'New clients as a share of all clients of the period.',
    'Anteil der neuen Kunden an allen Kunden des Zeitraums.',
    'Part des nouveaux clients parmi tous ceux de la période.',
  ],
  [
    'A call list of clients whose last visit was in the period: they have not come since and have nothing booked.',
    'Eine Anrufliste der Kunden, deren letzter Besuch im Zeitraum war: Sie kamen seither nicht und haben nichts gebucht.',
    'Une liste d’appels des clients dont la dernière visite était dans la période : ils ne sont pas revenus et n’ont rien réservé.',
  ],
  [
    'Clients whose last kept appointment, with anybody, is in the period, and who have none ahead.',
    'Kunden, deren letzter wahrgenommener Termin, bei wem auch immer, im Zeitraum liegt und die keinen vorgemerkt haben.',
    'Clients dont le dernier rendez-vous honoré, chez qui que ce soit, est dans la période, et qui n’en ont pas à venir.',
  ],
  [
    'Clients with a kept appointment in the period.',
    'Kunden mit einem wahrgenommenen Termin im Zeitraum.',
    'Clients avec un rendez-vous honoré dans la période.',
  ],
  [
    'Lapsed clients as a share of those who came in the period.',
    'Anteil der verlorenen Kunden an jenen, die im Zeitraum kamen.',
    'Part des clients perdus parmi ceux venus dans la période.',
  ],
  [
    'Lapsed clients whose last visit was at least 90 days ago.',
    'Verlorene Kunden, deren letzter Besuch mindestens 90 Tage her ist.',
    'Clients perdus dont la dernière visite remonte à 90 jours au moins.',
  ],
  [
    'Clients by the month of their first visit: how many of them came back, and how soon.',
    'Kunden nach dem Monat ihres ersten Besuchs: wie viele wiederkamen und wie bald.',
    'Clients selon le mois de leur première visite : combien sont revenus, et en combien de temps.',
  ],
  [
    'Clients whose first kept appointment ever, with anybody, is in the period. Each is in the line of that appointment.',
    'Kunden, deren allererster wahrgenommener Termin, bei wem auch immer, im Zeitraum liegt. Jeder steht in der Zeile dieses Termins.',
    'Clients dont le tout premier rendez-vous honoré, chez qui que ce soit, est dans la période. Chacun figure dans la ligne de ce rendez-vous.',
  ],
  ...[
    ['1 month', '1 Monat', '1 Monat', '1 mois'] as const,
    ['3 months', '3 Monaten', '3 Monate', '3 mois'] as const,
    ['12 months', '12 Monaten', '12 Monate', '12 mois'] as const,
  ].map(([en, within, ago, fr]): [string, string, string] => [
    `The share of clients who came again on a later day within ${en}, at any location and with anybody, of those who first came at least ${en} ago. In a line it is empty until this is so for all its clients.`,
    `Der Anteil der Kunden, die innerhalb von ${within} an einem späteren Tag wiederkamen, an irgendeinem Standort und bei wem auch immer, von jenen, deren erster Besuch mindestens ${ago} her ist. In einer Zeile steht er erst, wenn das für alle ihre Kunden gilt.`,
    `La part des clients revenus un autre jour en ${fr}, sur n’importe quel site et chez qui que ce soit, parmi ceux venus la première fois il y a au moins ${fr}. Dans une ligne, elle reste vide tant que ce n’est pas le cas pour tous ses clients.`,
  ]),
  [
    'These clients who have come on one day only, and have nothing booked.',
    'Diese Kunden, die nur an einem Tag kamen und nichts gebucht haben.',
    'Ces clients venus un seul jour et qui n’ont rien réservé.',
  ],
  [
    'Clients of the period who get no email: without an address, bounced, unsubscribed or marked as spam.',
    'Kunden des Zeitraums, die keine Mail bekommen: ohne Adresse, zurückgekommen, abgemeldet oder als Spam markiert.',
    'Clients de la période qui ne reçoivent pas d’e-mail : sans adresse, en retour, désabonnés ou marqués comme spam.',
  ],
  [
    'Clients with an appointment in the period that was not cancelled, and without an address or with one that gets no email.',
    'Kunden mit einem nicht abgesagten Termin im Zeitraum, ohne Adresse oder mit einer, die keine Mail bekommt.',
    'Clients avec un rendez-vous non annulé dans la période, sans adresse ou avec une adresse qui ne reçoit rien.',
  ],
  [
    'Their share of all clients with an appointment that was not cancelled.',
    'Ihr Anteil an allen Kunden mit einem nicht abgesagten Termin.',
    'Leur part de tous les clients avec un rendez-vous non annulé.',
  ],
  [
    'Clients without an email address.',
    'Kunden ohne E-Mail-Adresse.',
    'Clients sans adresse e-mail.',
  ],
  [
    'Clients whose address bounced, who unsubscribed or who marked an email as spam.',
    'Kunden, deren Adresse zurückkam, die sich abmeldeten oder eine Mail als Spam markierten.',
    'Clients dont l’adresse est en retour, désabonnés ou qui ont marqué un e-mail comme spam.',
  ],
  // 601, 602
  [
    'All classes of the period with their students and places.',
    'Alle Kurse des Zeitraums mit ihren Teilnehmenden und Plätzen.',
    'Tous les cours de la période avec participants et places.',
  ],
  [
    'Places taken as a share of all places, in classes whose number of places is known.',
    'Anteil der belegten an allen Plätzen, in Kursen mit bekannter Platzzahl.',
    'Part des places prises, dans les cours dont le nombre de places est connu.',
  ],
  [
    'Who takes part in each class of the period, and who was present.',
    'Wer an jedem Kurs des Zeitraums teilnimmt, und wer anwesend war.',
    'Qui participe à chaque cours de la période, et qui était présent.',
  ],
  [
    'Places whose student was recorded as present, in classes that have begun.',
    'Plätze, deren Teilnehmende als anwesend erfasst sind, in begonnenen Kursen.',
    'Places dont le participant est noté présent, dans les cours commencés.',
  ],
  [
    'Present students as a share of those whose presence was recorded.',
    'Anteil der Anwesenden an jenen, deren Anwesenheit erfasst ist.',
    'Part des présents parmi ceux dont la présence a été notée.',
  ],
  // 701 to 801
  [
    'The campaigns that clients were invited with in the period: how many were reached, booked and came.',
    'Die Kampagnen, mit denen im Zeitraum eingeladen wurde: wie viele erreicht wurden, buchten und kamen.',
    'Les campagnes d’invitation de la période : combien ont été joints, ont réservé et sont venus.',
  ],
  [
    'Invitations that were made in the period and not withdrawn.',
    'Einladungen, die im Zeitraum gemacht und nicht zurückgezogen wurden.',
    'Invitations faites dans la période et non retirées.',
  ],
  [
    'Invited clients with a mail that a mail server accepted and did not return. As a share of the invited.',
    'Eingeladene Kunden mit einer Mail, die ein Mailserver annahm und nicht zurückschickte. Als Anteil der Eingeladenen.',
    'Clients invités avec un e-mail accepté par un serveur et non retourné. En part des invités.',
  ],
  [
    'Invitations whose status counts as kept. As a share of the invited.',
    'Einladungen, deren Status als wahrgenommen zählt. Als Anteil der Eingeladenen.',
    'Invitations dont le statut compte comme honoré. En part des invités.',
  ],
  [
    'Invitations that an appointment of the client was booked after: before they expire, before the next invitation of the client, and at most 90 days later. The client may have booked for another reason. As a share of the invited.',
    'Einladungen, nach denen der Kunde einen Termin buchte: vor ihrem Ablauf, vor der nächsten Einladung und höchstens 90 Tage später. Der Kunde kann auch aus einem anderen Grund gebucht haben. Als Anteil der Eingeladenen.',
    'Invitations suivies d’une réservation du client : avant leur expiration, avant l’invitation suivante et au plus 90 jours après. Le client a pu réserver pour une autre raison. En part des invités.',
  ],
  [
    'Invitations with such an appointment that was kept. As a share of the invited.',
    'Einladungen mit einem solchen Termin, der wahrgenommen wurde. Als Anteil der Eingeladenen.',
    'Invitations avec un tel rendez-vous qui a été honoré. En part des invités.',
  ],
  [
    'The prices, at the time of booking, of kept appointments that followed.',
    'Die Preise, bei der Buchung, der wahrgenommenen Termine, die folgten.',
    'Les prix, à la réservation, des rendez-vous honorés qui ont suivi.',
  ],
  [
    'All invitations of the period: whether the mail arrived, the client accepted, booked and came.',
    'Alle Einladungen des Zeitraums: ob die Mail ankam, der Kunde annahm, buchte und kam.',
    'Toutes les invitations de la période : si l’e-mail est arrivé, si le client a accepté, réservé et est venu.',
  ],
  [
    'Invitations that are neither completed nor withdrawn, and have not expired.',
    'Einladungen, die weder erledigt noch zurückgezogen und nicht abgelaufen sind.',
    'Invitations ni terminées ni retirées, et non expirées.',
  ],
  [
    'All clients who are due to come again in the period, with their phone number and their next appointment.',
    'Alle Kunden, die im Zeitraum wiederkommen sollten, mit Telefonnummer und nächstem Termin.',
    'Tous les clients qui devraient revenir dans la période, avec leur téléphone et leur prochain rendez-vous.',
  ],
  [
    'Recalls with a due time in the period, in any status.',
    'Wiedereinbestellungen, die im Zeitraum fällig sind, in jedem Status.',
    'Rappels dont l’échéance est dans la période, quel que soit leur statut.',
  ],
  [
    'Recalls whose status counts as kept, as a share of those that were not cancelled.',
    'Anteil der Wiedereinbestellungen, deren Status als wahrgenommen zählt, an den nicht abgesagten.',
    'Part des rappels dont le statut compte comme honoré parmi les non annulés.',
  ],
  [
    'Recalls that are not done, of clients who have an appointment ahead.',
    'Nicht erledigte von Kunden, die einen Termin vorgemerkt haben.',
    'Rappels non faits de clients qui ont un rendez-vous à venir.',
  ],
  [
    'Recalls whose time has come that are not done, of clients with nothing booked.',
    'Fällige, nicht erledigte von Kunden, die nichts gebucht haben.',
    'Rappels échus et non faits de clients qui n’ont rien réservé.',
  ],
  [
    'All forms that clients were asked to sign in the period, those that are outstanding first.',
    'Alle Formulare, die im Zeitraum zu unterschreiben waren, die offenen zuerst.',
    'Tous les formulaires à signer demandés dans la période, ceux en attente d’abord.',
  ],
  [
    'Forms that clients were asked to sign in the period, in any status.',
    'Formulare, deren Unterschrift im Zeitraum verlangt wurde, in jedem Status.',
    'Formulaires dont la signature a été demandée dans la période, quel que soit leur statut.',
  ],
  [
    'Forms whose status counts as kept, as a share of those that were not waived.',
    'Anteil der Formulare, deren Status als wahrgenommen zählt, an den nicht erlassenen.',
    'Part des formulaires dont le statut compte comme honoré parmi ceux non dispensés.',
  ],
  [
    'Forms whose status is still pending.',
    'Formulare, deren Status noch offen ist.',
    'Formulaires dont le statut est encore en attente.',
  ],
  [
    'Outstanding forms whose appointment has begun.',
    'Offene Formulare, deren Termin begonnen hat.',
    'Formulaires en attente dont le rendez-vous a commencé.',
  ],
  [
    'Half of the signed forms were signed at most this many days after the request. A form that was saved as signed from the beginning does not count.',
    'Die Hälfte der unterschriebenen Formulare wurde höchstens so viele Tage nach der Anfrage unterschrieben. Von Anfang an unterschriebene zählen nicht.',
    'La moitié des formulaires signés l’ont été au plus tant de jours après la demande. Ceux enregistrés signés dès le départ ne comptent pas.',
  ],
  // 901 to 951
  [
    'All triggers that were due in the period: whether they fired, and the results of their emails.',
    'Alle Auslöser, die im Zeitraum fällig waren: ob sie auslösten, und was aus ihren Mails wurde.',
    'Tous les déclencheurs à échéance dans la période : s’ils ont agi, et le résultat de leurs e-mails.',
  ],
  [
    'All triggers scheduled for the period, also cancelled ones.',
    'Alle für den Zeitraum geplanten Auslöser, auch abgesagte.',
    'Tous les déclencheurs prévus dans la période, même annulés.',
  ],
  [
    'Triggers whose time has come and that were not cancelled.',
    'Auslöser, deren Zeit gekommen ist und die nicht abgesagt wurden.',
    'Déclencheurs dont l’heure est venue et qui n’ont pas été annulés.',
  ],
  [
    'Triggers that wrote their emails.',
    'Auslöser, die ihre Mails geschrieben haben.',
    'Déclencheurs qui ont écrit leurs e-mails.',
  ],
  [
    'Triggers with an email that the mail server accepted and that did not bounce.',
    'Auslöser mit einer Mail, die der Mailserver annahm und die nicht zurückkam.',
    'Déclencheurs avec un e-mail accepté par le serveur et non retourné.',
  ],
  [
    'Triggers with an email that was returned after a mail server had accepted it.',
    'Auslöser mit einer Mail, die zurückkam, nachdem ein Mailserver sie angenommen hatte.',
    'Déclencheurs avec un e-mail retourné après avoir été accepté.',
  ],
  [
    'Triggers with at least one email that was permanently refused.',
    'Auslöser mit mindestens einer endgültig abgelehnten Mail.',
    'Déclencheurs avec au moins un e-mail définitivement refusé.',
  ],
  [
    'Triggers of the period that are still pending.',
    'Auslöser des Zeitraums, die noch ausstehen.',
    'Déclencheurs de la période encore en attente.',
  ],
  [
    'The delivery of the emails of each template.',
    'Die Zustellung der Mails jeder Vorlage.',
    'La livraison des e-mails de chaque modèle.',
  ],
  [
    'All emails created in the period, without tests.',
    'Alle im Zeitraum erstellten Mails, ohne Tests.',
    'Tous les e-mails créés dans la période, sans les tests.',
  ],
  [
    'Emails that the mail server accepted and that did not bounce, as a share of those that it accepted or refused.',
    'Anteil der Mails, die der Mailserver annahm und die nicht zurückkamen, an den angenommenen oder abgelehnten.',
    'Part des e-mails acceptés et non retournés parmi ceux que le serveur a acceptés ou refusés.',
  ],
  [
    'Emails that were returned after a mail server had accepted them.',
    'Mails, die zurückkamen, nachdem ein Mailserver sie angenommen hatte.',
    'E-mails retournés après avoir été acceptés par un serveur.',
  ],
  [
    'Emails that were permanently refused or ran out of attempts.',
    'Mails, die endgültig abgelehnt wurden oder keine Versuche mehr hatten.',
    'E-mails définitivement refusés ou à bout de tentatives.',
  ],
  [
    'Emails that were captured, suppressed or cancelled.',
    'Mails, die zurückbehalten, gesperrt oder abgesagt wurden.',
    'E-mails retenus, bloqués ou annulés.',
  ],
  [
    'All automations: what they did in the period, and when each last fired.',
    'Alle Automationen: was sie im Zeitraum taten, und wann jede zuletzt auslöste.',
    'Toutes les automatisations : ce qu’elles ont fait dans la période, et leur dernier déclenchement.',
  ],
  [
    'Automations that are active now.',
    'Automationen, die jetzt aktiv sind.',
    'Automatisations actives maintenant.',
  ],
  [
    'Active automations that did not fire in the period.',
    'Aktive Automationen, die im Zeitraum nicht auslösten.',
    'Automatisations actives sans déclenchement dans la période.',
  ],
  [
    'Triggers of the period that fired, also those whose emails failed.',
    'Auslöser des Zeitraums, die auslösten, auch jene mit fehlgeschlagenen Mails.',
    'Déclencheurs de la période qui ont agi, même si leurs e-mails ont échoué.',
  ],
  [
    'Triggers of the period that failed.',
    'Auslöser des Zeitraums, die fehlschlugen.',
    'Déclencheurs de la période qui ont échoué.',
  ],
  [
    'How often clients missed appointments with and without a reminder, and whether the difference can be told.',
    'Wie oft Kunden Termine mit und ohne Erinnerung verpassten, und ob sich der Unterschied feststellen lässt.',
    'Combien de fois les clients ont manqué des rendez-vous avec et sans rappel, et si la différence est établie.',
  ],
  [
    'Percentage points that the no-show rate differs with a reminder from without one, among appointments booked before the reminder was due, standardised by lead time (under 3, 8, 31 days, longer) and by new or returning client. Empty while it cannot be told: at least 100 appointments on each side and a 99 % interval without zero. The intervals of the table are Wilson intervals at 95 %.',
    'Prozentpunkte, um die sich die Ausfallquote mit Erinnerung von der ohne unterscheidet, unter Terminen, die vor der Erinnerung gebucht waren, standardisiert nach Vorlauf (unter 3, 8, 31 Tagen, länger) und nach neuen oder wiederkehrenden Kunden. Leer, solange er sich nicht feststellen lässt: mindestens 100 Termine auf jeder Seite und ein 99-%-Intervall ohne Null. Die Intervalle der Tabelle sind Wilson-Intervalle zu 95 %.',
    'Points de pourcentage d’écart du taux d’absence avec rappel par rapport à sans rappel, parmi les rendez-vous réservés avant l’heure du rappel, standardisés par délai (moins de 3, 8, 31 jours, plus) et par client nouveau ou habitué. Vide tant qu’il n’est pas établi : au moins 100 rendez-vous de chaque côté et un intervalle à 99 % sans zéro. Les intervalles du tableau sont des intervalles de Wilson à 95 %.',
  ],
  [
    'No-show rate of appointments whose client was reached: a mail server accepted a reminder before the appointment and did not return it.',
    'Ausfallquote der Termine, deren Kunde erreicht wurde: Ein Mailserver nahm vor dem Termin eine Erinnerung an und schickte sie nicht zurück.',
    'Taux d’absence des rendez-vous dont le client a été joint : un serveur a accepté un rappel avant le rendez-vous et ne l’a pas retourné.',
  ],
  [
    'No-show rate of appointments without a reminder that reached the client, without those that were booked too late for one.',
    'Ausfallquote der Termine ohne eine Erinnerung, die den Kunden erreichte, ohne jene, die dafür zu spät gebucht wurden.',
    'Taux d’absence des rendez-vous sans rappel ayant joint le client, sans ceux réservés trop tard pour un rappel.',
  ],
  [
    'Appointments that were cancelled after a reminder had reached the client.',
    'Termine, die abgesagt wurden, nachdem eine Erinnerung den Kunden erreicht hatte.',
    'Rendez-vous annulés après qu’un rappel a joint le client.',
  ],
  [
    'What was booked for each service with each member of staff, and how much of it was kept, missed, cancelled, not closed or is still ahead.',
    'Was für jede Leistung bei jeder Person gebucht wurde, und wie viel davon wahrgenommen, verpasst, abgesagt, noch offen oder noch vorgemerkt ist.',
    'Ce qui a été réservé pour chaque prestation chez chaque personne, et combien a été honoré, manqué, annulé, non clôturé ou reste à venir.',
  ],
]
