{{- /*
What no single value shows. Each text says what to do. values.schema.json checks the rest.
*/ -}}
{{- define "actop.checks" -}}
{{- $v := .Values -}}
{{- if not $v.image.repository -}}
{{- fail "image.repository is not set. Set it to the image of your silo; deploy/Dockerfile builds one." -}}
{{- end -}}
{{- if not (or $v.image.tag $v.image.digest) -}}
{{- fail "Neither image.tag nor image.digest is set. Set one: with \"latest\", silos of two builds would form one cluster unnoticed." -}}
{{- end -}}
{{- if eq $v.image.tag "latest" -}}
{{- fail "image.tag is \"latest\", so a pod that starts anew may be another build. Set a tag that does not change, or image.digest." -}}
{{- end -}}
{{- if not $v.cluster.serviceId -}}
{{- fail "cluster.serviceId is not set. Choose a name for the application and keep it: stored states and reminders belong to it." -}}
{{- end -}}
{{- include "actop.checkMembership" . -}}
{{- if not (or $v.security.existingSecret $v.tls.existingSecret $v.security.allowUnprotected) -}}
{{- fail "Whoever reaches a port would be trusted as a silo. Set security.existingSecret, a secret with the key \"secret\" (kubectl create secret generic NAME --from-literal=secret=$(openssl rand -base64 32)), or tls.existingSecret, or, where networkPolicy is enforced, security.allowUnprotected=true." -}}
{{- end -}}
{{- if and $v.tls.existingSecret (not $v.tls.targetHost) -}}
{{- fail "tls.existingSecret is set, but tls.targetHost is not. Set it to the name in the certificates of the silos, as silos.example.com." -}}
{{- end -}}
{{- $ports := list $v.ports.http $v.ports.management $v.ports.silo $v.ports.gateway -}}
{{- if ne (len (uniq $ports)) 4 -}}
{{- fail (printf "ports.http, ports.management, ports.silo and ports.gateway must differ, but are %v. Give each a number of its own." $ports) -}}
{{- end -}}
{{- $needed := add $v.shutdown.preStopSeconds $v.shutdown.drainSeconds 10 -}}
{{- if lt (int $v.shutdown.gracePeriodSeconds) (int $needed) -}}
{{- fail (printf "shutdown.gracePeriodSeconds is %d: Kubernetes would kill a silo that still moves its grains. Set it to %d or more (preStopSeconds + drainSeconds + 10), or lower drainSeconds." (int $v.shutdown.gracePeriodSeconds) (int $needed)) -}}
{{- end -}}
{{- include "actop.checkScale" . -}}
{{- if and $v.metrics.podMonitor.enabled $v.metrics.serviceMonitor.enabled -}}
{{- fail "metrics.podMonitor and metrics.serviceMonitor are both enabled: each silo would be scraped twice, and rates doubled. Enable one." -}}
{{- end -}}
{{- range $name, $_ := $v.overrides -}}
{{- if not (has $name (list "deployment" "service" "headlessService" "serviceAccount" "podDisruptionBudget" "horizontalPodAutoscaler" "networkPolicy" "podMonitor" "serviceMonitor" "prometheusRule" "dashboards" "postgresqlStatefulSet" "postgresqlService" "postgresqlSecret" "postgresqlNetworkPolicy" "testPod")) -}}
{{- fail (printf "overrides.%s is no object of this chart. values.yaml lists their names." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "actop.checkMembership" -}}
{{- $v := .Values -}}
{{- if eq $v.membership.type "postgresql" -}}
{{- if and $v.postgresql.enabled $v.database.existingSecret -}}
{{- fail "postgresql.enabled and database.existingSecret are both set. Use database.existingSecret for your own PostgreSQL, or postgresql.enabled=true for a trial." -}}
{{- end -}}
{{- if not (or $v.postgresql.enabled $v.database.existingSecret) -}}
{{- fail "There is no database for the membership. Set database.existingSecret, a secret with the connection string under the key \"connectionString\", or, for a trial, postgresql.enabled=true." -}}
{{- end -}}
{{- if and $v.postgresql.enabled (not $v.postgresql.persistence.enabled) (not $v.membership.acceptLoss) -}}
{{- fail "postgresql.persistence.enabled is false: membership, states and reminders would be lost with the pod of PostgreSQL. Enable it, use database.existingSecret, or say that this may happen with membership.acceptLoss=true." -}}
{{- end -}}
{{- else -}}
{{- if not $v.membership.acceptLoss -}}
{{- fail "membership.type firstSilo keeps the table of members in the memory of one pod, and loses it with that pod. Use membership.type=postgresql, or, for a trial, say that this may happen with membership.acceptLoss=true." -}}
{{- end -}}
{{- if or (ne (int $v.replicas) 1) $v.autoscaling.enabled -}}
{{- fail "membership.type firstSilo works with one silo: others do not know the address of the first. Set replicas=1 and autoscaling.enabled=false, or membership.type=postgresql." -}}
{{- end -}}
{{- if or $v.database.storages $v.database.reminders $v.database.existingSecret $v.postgresql.enabled -}}
{{- fail "membership.type firstSilo uses no database, but database.* or postgresql.enabled is set. Remove them, or set membership.type=postgresql." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "actop.checkScale" -}}
{{- $v := .Values -}}
{{- if $v.autoscaling.enabled -}}
{{- if gt (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas) -}}
{{- fail (printf "autoscaling.minReplicas (%d) is larger than autoscaling.maxReplicas (%d). Exchange them." (int $v.autoscaling.minReplicas) (int $v.autoscaling.maxReplicas)) -}}
{{- end -}}
{{- if not (or $v.autoscaling.cpuPercent $v.autoscaling.activations) -}}
{{- fail "autoscaling is enabled without a target. Set autoscaling.cpuPercent or autoscaling.activations." -}}
{{- end -}}
{{- if and $v.autoscaling.cpuPercent (not (dig "requests" "cpu" "" $v.resources)) -}}
{{- fail "autoscaling.cpuPercent is a share of the CPU request, but resources.requests.cpu is not set. Set it." -}}
{{- end -}}
{{- end -}}
{{- $least := ternary $v.autoscaling.minReplicas $v.replicas $v.autoscaling.enabled | int -}}
{{- if and $v.podDisruptionBudget.enabled (ge (int $v.podDisruptionBudget.maxUnavailable) $least) (gt $least 1) -}}
{{- fail (printf "podDisruptionBudget.maxUnavailable is %d of %d silos: a drain of nodes could end all of them at once. Set it to 1." (int $v.podDisruptionBudget.maxUnavailable) $least) -}}
{{- end -}}
{{- end -}}
