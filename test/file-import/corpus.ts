/*
 * Exports in the form of schedulers and booking plug-ins. The columns are those that their documentation
 * names; the rows are made up. Each is read without a correction, or with the one that is given.
 */

type Example = {
  name: string
  text: string
  /** Default: UTF-8. */
  encoding?: 'utf16le' | 'latin1'
  /** A parameter that a person has to give. */
  correction?: Record<string, string>
  /** The first row as it must be read, in Europe/Zurich. */
  first: Row
  /** What the second row says otherwise. */
  second: Partial<Row>
}

type Row = {
  client: string
  professional: string
  reason: string
  location?: string
  start: string
  minutes: number
  status: string
}

const rows = (...lines: string[]) => `${lines.join('\r\n')}\r\n`

export const CORPUS: Example[] = [
  {
    name: 'a practice program in German',
    text: rows(
      'Datum;Zeit;Dauer;Kunde;Therapeut;Status',
      '03.05.2032;09:30;45;Keller, Anna;Elena García;Bestätigt',
      '04.05.2032;14:00;30;Renard Chloé;Elena García;Nicht erschienen',
    ),
    encoding: 'latin1',
    first: {
      client: 'Anna Keller',
      professional: 'Elena García',
      reason: 'Consultation',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Renard Chloé', start: '2032-05-04T14:00', minutes: 30, status: 'NO_SHOW' },
  },
  {
    name: 'Calendly',
    text: rows(
      'User Name,User Email,Team,Invitee Name,Invitee First Name,Invitee Last Name,Invitee Email,Invitee Time Zone,Text Reminder Number,Invitee accepted marketing emails,Event Type Name,Start Date & Time,End Date & Time,Location,Event Created Date & Time,Canceled,Canceled By,Cancellation reason,Question 1,Response 1,UTM Campaign,Marked as No-Show',
      'Elena García,elena@example.org,,Anna Keller,Anna,Keller,anna.k@example.com,Berlin,,,First visit,2032-05-03 9:30 am,2032-05-03 10:15 am,Altstadt,2032-04-20 5:01 pm,false,,,Why?,Knee,,No',
      'Elena García,elena@example.org,,Ben Roth,Ben,Roth,ben@example.com,Berlin,,,First visit,2032-05-04 9:30 am,2032-05-04 10:15 am,Altstadt,2032-04-20 5:01 pm,true,Ben Roth,ill,Why?,Knee,,No',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'First visit',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: '',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-04T09:30',
      status: 'CANCELLED',
    },
  },
  {
    name: 'Acuity Scheduling',
    text: rows(
      'Start Time,End Time,First Name,Last Name,Phone,Email,Type,Calendar,Appointment Price,Paid?,Amount Paid Online,Certificate Code,Notes,Date Scheduled,Label,Scheduled By,Appointment ID',
      '"May 3, 2032 9:30 am","May 3, 2032 10:15 am",Anna,Keller,0791234567,anna.k@example.com,Massage,Elena García,90.00,no,0.00,,,2032-04-20,,,4711',
      '"May 14, 2032 1:30 pm","May 14, 2032 2:15 pm",Ben,Roth,,ben@example.com,Massage,Elena García,90.00,no,0.00,,,2032-04-20,,,4712',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: '',
    },
    second: { client: 'Ben Roth <ben@example.com>', start: '2032-05-14T13:30' },
  },
  {
    name: 'Microsoft Bookings',
    text: rows(
      'Date Time\tCustomer Name\tCustomer Email\tCustomer Phone\tCustomer Address\tStaff\tStaff Name\tStaff Email\tService\tLocation\tDuration (mins.)\tPricing Type\tPrice\tCurrency\tCc Attendees\tSigned Up Attendees Count\tText Notifications Enabled\tCustom Fields\tEvent Type\tBooking Id\tTracking Data',
      '5/3/2032 09:30\tAnna Keller\tanna.k@example.com\t0791234567\t\tElena García\tElena García\telena@example.org\tMassage\tAltstadt\t45\tFixedPrice\t90\tCHF\t\t1\tFalse\t{}\tAppointment\tAAMk1\t{}',
      '5/14/2032 13:00\tBen Roth\tben@example.com\t\t\tElena García\tElena García\telena@example.org\tMassage\tAltstadt\t45\tFixedPrice\t90\tCHF\t\t1\tFalse\t{}\tAppointment\tAAMk2\t{}',
    ),
    encoding: 'utf16le',
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: '',
    },
    second: { client: 'Ben Roth <ben@example.com>', start: '2032-05-14T13:00' },
  },
  {
    name: 'Fresha',
    text: rows(
      'Appointments',
      '',
      'Ref #,Channel,Created Date,Created by,Client,Service,Scheduled Date,Time,Duration,Location,Team member,Price,Status',
      '0A1B,Online,20 Apr 2032,Client,Anna Keller,Haircut,"Mon, 3 May 2032",9:30am,45min,Altstadt,Elena,CHF 90.00,Confirmed',
      '0A1C,Offline,20 Apr 2032,Elena,Ben Roth,Haircut,"Tue, 4 May 2032",1:15pm,1h 15min,Altstadt,Elena,CHF 90.00,No-show',
    ),
    first: {
      client: 'Anna Keller',
      professional: 'Elena García',
      reason: 'Haircut',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth', start: '2032-05-04T13:15', minutes: 75, status: 'NO_SHOW' },
  },
  {
    name: 'SimplyBook.me',
    text: rows(
      '"Code";"Date";"Start time";"End time";"Service";"Provider";"Client name";"Client email";"Client phone";"Status";"Created"',
      '"x7k2";"03-05-2032";"09:30";"10:15";"Massage";"Elena García";"Anna Keller";"anna.k@example.com";"0791234567";"Confirmed";"20-04-2032 10:00"',
      '"x7k3";"24-05-2032";"09:30";"10:15";"Massage";"Elena García";"Ben Roth";"ben@example.com";"";"Canceled";"20-04-2032 10:00"',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-24T09:30',
      status: 'CANCELLED',
    },
  },
  {
    name: 'Amelia',
    text: rows(
      'Customers,Employee,Service,Location,Start Time,End Time,Duration,Price,Payment Amount,Payment Status,Payment Method,Note,Status,Number Of Persons,Coupon Code',
      '"Anna Keller anna.k@example.com 0791234567",Elena García,Massage,Altstadt,03/05/2032 09:30,03/05/2032 10:15,45min,90,0,pending,onSite,,Approved,1,',
      '"Ben Roth ben@example.com",Elena García,Massage,Altstadt,04/05/2032 09:30,04/05/2032 10:15,45min,90,0,pending,onSite,,Pending,1,',
    ),
    correction: { dates: 'dmy' },
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth <ben@example.com>', start: '2032-05-04T09:30', status: 'OPEN' },
  },
  {
    name: 'Bookly',
    text: rows(
      'No.,Appointment date,Employee,Customer name,Customer phone,Customer email,Service,Duration,Status,Payment,Notes,Created',
      '17,"May 3, 2032 9:30 am",Elena García,Anna Keller,0791234567,anna.k@example.com,Massage,45 min,Approved,CHF 90.00 Local Pending,,"April 20, 2032 5:00 pm"',
      '18,"May 4, 2032 9:30 am",Elena García,Ben Roth,,ben@example.com,Massage,45 min,Rejected,,,"April 20, 2032 5:00 pm"',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-04T09:30',
      status: 'CANCELLED',
    },
  },
  {
    name: 'LatePoint',
    text: rows(
      'ID,Service,Start Date & Time,Duration,Customer,Customer Phone,Customer Email,Agent,Agent Phone,Agent Email,Status,Start Time,End Time,Created On',
      '5,Massage,"May 3, 2032, 9:30 am",45,Anna Keller,0791234567,anna.k@example.com,Elena García,,elena@example.org,Approved,9:30 am,10:15 am,2032-04-20',
      '6,Massage,"May 4, 2032, 9:30 am",45,Ben Roth,,ben@example.com,Elena García,,elena@example.org,No Show,9:30 am,10:15 am,2032-04-20',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth <ben@example.com>', start: '2032-05-04T09:30', status: 'NO_SHOW' },
  },
  {
    name: 'Square Appointments',
    text: rows(
      'Booking ID|Customer Name|Customer Email|Staff|Service|Start Date|Start Time|End Time|Status|Booked On',
      'sq1|Anna Keller|anna.k@example.com|Elena García|Massage|2032/05/03|9:30 AM|10:15 AM|Accepted|2032/04/20',
      'sq2|Ben Roth|ben@example.com|Elena García|Massage|2032/05/04|9:30 AM|10:15 AM|Declined|2032/04/20',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-04T09:30',
      status: 'CANCELLED',
    },
  },
  {
    name: 'a French agenda',
    text: rows(
      'Date;Heure de début;Heure de fin;Nom du client;Prénom du client;E-mail;Praticien;Motif;Statut;Lieu',
      'lundi 3 mai 2032;9h30;10h15;Keller;Anna;anna.k@example.com;Mme Elena García;Séance;Confirmé;Altstadt',
      'mardi 4 mai 2032;9h30;10h15;Roth;Ben;;Mme Elena García;Séance;Annulé;Altstadt',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Séance',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth', start: '2032-05-04T09:30', status: 'CANCELLED' },
  },
  {
    name: 'Cliniko',
    text: rows(
      'Appointment ID,Starts at,Ends at,Patient ID,Patient,Patient email,Practitioner,Appointment type,Business,Arrived,Did not arrive,Cancelled at,Cancellation reason,Invoice status,Notes,Created at,Updated at',
      '1001,2032-05-03T09:30:00+02:00,2032-05-03T10:15:00+02:00,1,Anna Keller,anna.k@example.com,Elena García,First visit,Altstadt,false,false,,,,,2032-04-20T09:00:00+02:00,2032-04-20T09:00:00+02:00',
      '1002,2032-05-04T09:30:00+02:00,2032-05-04T10:15:00+02:00,2,Ben Roth,ben@example.com,Elena García,First visit,Altstadt,false,false,2032-04-28T12:00:00+02:00,Illness,,,2032-04-20T09:00:00+02:00,2032-04-20T09:00:00+02:00',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'First visit',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: '',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-04T09:30',
      status: 'CANCELLED',
    },
  },
  {
    name: 'Jane',
    text: rows(
      'Appointment Date,Start At,End At,Treatment Name,Staff Member Name,Patient Number,Patient First Name,Patient Preferred Name,Patient Last Name,Patient Email,State,Cancelled At,Arrived At,Location Name,Price',
      '"May 3, 2032",9:30am,10:15am,Massage 45,Elena García,17,Anna,,Keller,anna.k@example.com,booked,,,Altstadt,90.00',
      '"May 4, 2032",1:30pm,2:15pm,Massage 45,Elena García,18,Ben,,Roth,ben@example.com,arrived,,"May 4, 2032",Altstadt,90.00',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage 45',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'OPEN',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-04T13:30',
      status: 'CHECKED_IN',
    },
  },
  {
    name: 'Setmore',
    text: rows(
      'Date,Time,Service/Class/Event,Team Member,Customer Name,Email,Phone,Cost,Label,Comments',
      '03 May 2032,09:30 AM - 10:15 AM,Haircut,Elena García,Anna Keller,anna.k@example.com,+41 79 123 45 67,$90.00,Confirmed,',
      '04 May 2032,01:30 PM - 02:15 PM,Haircut,Elena García,Ben Roth,ben@example.com,,$90.00,No Show,',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Haircut',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth <ben@example.com>', start: '2032-05-04T13:30', status: 'NO_SHOW' },
  },
  {
    name: 'Mindbody',
    text: rows(
      'Date,Time,Client,Client ID,Phone,Email,Staff,Session Type,Status,Duration (hrs)',
      '5/3/32,9:30a,"Keller, Anna",1,0791234567,anna.k@example.com,"García, Elena",Massage - 45,Booked,0.75',
      '5/14/32,1:30p,"Roth, Ben",2,,ben@example.com,"García, Elena",Massage - 45,Late Cancel,1.5',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage - 45',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'OPEN',
    },
    second: {
      client: 'Ben Roth <ben@example.com>',
      start: '2032-05-14T13:30',
      minutes: 90,
      status: 'CANCELLED',
    },
  },
  {
    name: 'a calendar of Outlook in German',
    text: rows(
      '"Betreff","Beginnt am","Beginnt um","Endet am","Endet um","Ganztägiges Ereignis","Erinnerung Ein/Aus","Besprechungsplanung","Erforderliche Teilnehmer","Beschreibung","Kategorien","Ort","Privat"',
      '"Anna Keller","3.5.2032","09:30:00","3.5.2032","10:15:00","Aus","Ein","Elena García","anna.k@example.com","","Massage","Altstadt","Aus"',
      '"Ben Roth","4.5.2032","09:30:00","4.5.2032","10:15:00","Aus","Ein","Elena García","","","Massage","Altstadt","Aus"',
    ),
    encoding: 'latin1',
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Consultation',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: '',
    },
    second: { client: 'Ben Roth', start: '2032-05-04T09:30' },
  },
  {
    name: 'a booking program in German with titles, two-digit years and a sum',
    text: rows(
      'Praxis Sonnenschein – Terminliste;;;;;;;;',
      'Zeitraum: 01.05.2032 bis 31.05.2032;;;;;;;;',
      ';;;;;;;;',
      'Tag;Datum;Beginn;Ende;Patient (Name, Vorname);E-Mail-Adresse;Ressource;Leistung;Terminstatus',
      'Mo;03.05.32;9.30;10.15;Keller, Anna;anna.k@example.com;Elena García;Massage;Bestätigt',
      'Di;04.05.32;14.00;14.45;Roth, Ben;;Elena García;Massage;Entfallen',
    ),
    first: {
      client: 'Anna Keller <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Massage',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'CONFIRMED',
    },
    second: { client: 'Ben Roth', start: '2032-05-04T14:00', status: 'CANCELLED' },
  },
  {
    name: 'a booking site for doctors in French',
    text: rows(
      'Date du RDV;Heure du RDV;Durée (min);Civilité;Nom;Prénom;Date de naissance;Téléphone;Email;Motif de consultation;Statut du RDV;Agenda;Lieu de consultation;Date de création',
      'lun. 3 mai 2032;9 h 30;45;Mme;KELLER;Anna;02/03/1980;0612345678;anna.k@example.com;Suivi;À venir;Elena García;Altstadt;01/04/2032',
      'mar. 4 mai 2032;14 h;1 h 30;M.;LE GALL;Yann;02/03/1970;0612345677;yann@example.com;Suivi;Absent non excusé;Elena García;Altstadt;01/04/2032',
    ),
    first: {
      client: 'Anna KELLER <anna.k@example.com>',
      professional: 'Elena García',
      reason: 'Suivi',
      location: 'Altstadt',
      start: '2032-05-03T09:30',
      minutes: 45,
      status: 'OPEN',
    },
    second: {
      client: 'Yann LE GALL <yann@example.com>',
      start: '2032-05-04T14:00',
      minutes: 90,
      status: 'NO_SHOW',
    },
  },
]
