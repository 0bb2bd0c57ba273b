-- Lists with modifiedSince are read in the order of the changes. Tables of a few hundred rows need no index.
create index client_by_modified on client (business_id, modified_date, client_id) where active;
create index calendar_by_modified on calendar (business_id, modified_date, calendar_id) where active;
create index class_schedule_by_modified on class_schedule (business_id, modified_date, class_schedule_id) where active;
create index invitation_by_modified on invitation (business_id, modified_date, invitation_uuid) where active;
create index recall_by_modified on recall (business_id, modified_date, recall_id) where active;
create index disclaimer_by_modified on disclaimer (business_id, modified_date, disclaimer_id) where active;
