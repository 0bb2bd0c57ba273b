alter table business add postal_address_required boolean not null default false;
comment on column business.postal_address_required is
  'Mails that are not transactional are not sent without a postal address of the location or the business.';
