-- The comments of the table called some of these columns unused.
comment on column email_template.level is
  'LOCATION: this variant is for the location in the column location; otherwise for all locations.';
comment on column email_template.location is 'The id of a location, as text; see level.';
comment on column email_template.sort_order is 'Of variants that fit equally well, the lowest is used.';
comment on column email_template.no_header is 'True: the mail is sent without the layout of the business.';
comment on column email_template.attach_file_library_uuids is 'The files of the library that are attached.';
