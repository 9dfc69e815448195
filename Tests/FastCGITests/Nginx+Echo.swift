import TestSupport

extension Nginx {
    /// nginx in front of a responder on this socket. `/` uses kept connections, `/single/` one connection for each
    /// request.
    convenience init(echoAt socket: String) throws {
        let parameters = [
            "REQUEST_METHOD $request_method", "DOCUMENT_URI $document_uri", "QUERY_STRING $query_string",
            "CONTENT_TYPE $content_type", "CONTENT_LENGTH $content_length", "REMOTE_ADDR $remote_addr",
            "REQUEST_ID $request_id",
        ].map { "fastcgi_param \($0);" }.joined(separator: "\n")
        try self.init { port in
            """
            worker_processes 1;
            events { worker_connections 256; }
            http {
                \(Nginx.ownFolders)
                access_log off;
                client_max_body_size 0;
                \(parameters)
                upstream echo {
                    server unix:\(socket) max_fails=0;
                    keepalive 16;
                    keepalive_timeout 1s;
                    keepalive_requests 200;
                }
                server {
                    listen 127.0.0.1:\(port);
                    location / {
                        fastcgi_pass echo;
                        fastcgi_keep_conn on;
                    }
                    location /single/ {
                        rewrite ^/single(/.*)$ $1 break;
                        fastcgi_pass unix:\(socket);
                    }
                }
            }
            """
        }
    }
}
