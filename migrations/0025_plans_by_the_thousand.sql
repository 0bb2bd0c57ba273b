-- A plan writes triggers by the thousand. That a trigger's business is there, its definition says,
-- to which it points together with its business.
alter table event_trigger drop constraint event_trigger_business_id_fkey;
