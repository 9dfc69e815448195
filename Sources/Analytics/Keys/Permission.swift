/// What a key may do (analytics §2.5).
package enum Permission: String, Sendable, CaseIterable {
    case eventsRead = "events:read"
    case eventsWrite = "events:write"
    case funnelsRead = "funnels:read"
    case metricsRead = "metrics:read"
    case appsRead = "apps:read"
    case projectsRead = "projects:read"
    case feedbackRead = "feedback:read"
    case feedbackWrite = "feedback:write"
    case questionnairesRead = "questionnaires:read"
    case questionnairesWrite = "questionnaires:write"
    case usersWrite = "users:write"
}
