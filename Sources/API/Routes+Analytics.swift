import Analytics
import HTTP

extension Routes {
    /// The analytics API: method, path, required permission, handler.
    static let analytics: [Route] = [
        // Identity
        Route(.post, "/v1/identity/claim", .confirmedKey(.eventsWrite), claimAnonymousID),
        Route(.post, "/v1/identity/properties", .confirmedKey(.usersWrite), updateProperties),
        Route(.post, "/v1/identity/attribution/{source}", .apiKey(.usersWrite), submitAttribution),

        // Events
        Route(.post, "/v1/ingest", .confirmedKey(.eventsWrite), ingestEvents),
        Route(.post, "/v1/import", .apiKey(.eventsWrite), importEvents),

        // Feedback and answers of end users
        Route(.post, "/v1/feedback", .apiKey(.eventsWrite), submitFeedback),
        Route(.post, "/v1/questionnaires/dismiss", .apiKey(.eventsWrite), dismissQuestionnaires),
        Route(.get, "/v1/questionnaires/{slug}", .apiKey(.eventsWrite), showQuestionnaire),
        Route(.post, "/v1/questionnaires/{slug}/responses", .apiKey(.eventsWrite), respondToQuestionnaire),

        // Attachments
        Route(.post, "/v1/ingest/attachment", .apiKey(.eventsWrite), reserveAttachment),
        Route(.put, "/v1/ingest/attachment/{id}", .apiKey(.eventsWrite), uploadAttachment),
        Route(.get, "/v1/attachments", .apiKey(.eventsRead), listAttachments),
        Route(.get, "/v1/attachments/download", .anyone, downloadAttachment),
        Route(.get, "/v1/attachments/{id}", .apiKey(.eventsRead), showAttachment),
        Route(.delete, "/v1/attachments/{id}", .apiKey(.eventsWrite), deleteAttachment),
        Route(.get, "/v1/projects/{id}/attachment-usage", .apiKey(.eventsRead), showAttachmentUsage),

        // Reads
        Route(.get, "/v1/events", .apiKey(.eventsRead), listEvents),
        Route(.get, "/v1/events/count", .apiKey(.eventsRead), countEvents),
        Route(.get, "/v1/events/{id}", .apiKey(.eventsRead), showEvent),
        Route(.get, "/v1/app-users", .apiKey(.appsRead), listAppUsers),
        Route(.get, "/v1/app-users/{id}", .apiKey(.appsRead), showAppUser),
        Route(.get, "/v1/apps", .apiKey(.appsRead), listApps),
        Route(.get, "/v1/apps/{id}/users", .apiKey(.appsRead), listUsersOfApp),
        Route(.get, "/v1/projects", .apiKey(.projectsRead), listProjects),
        Route(.get, "/v1/feedback", .apiKey(.feedbackRead), listFeedback),
        Route(.get, "/v1/projects/{id}/feedback", .apiKey(.feedbackRead), listFeedbackOfProject),
    ]
}
