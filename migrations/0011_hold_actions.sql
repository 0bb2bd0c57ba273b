-- The engine holds templates and actions still while it makes mails of them; for that, PostgreSQL
-- asks for the right to change some column.
grant update (version) on event_action, email_template to bellwether_engine;
