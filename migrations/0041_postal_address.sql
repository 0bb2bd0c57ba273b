alter table business add postal_address text;
comment on column business.postal_address is
  'In the footer of mails about no location with an address. Many countries require one in mails that are not transactional.';
