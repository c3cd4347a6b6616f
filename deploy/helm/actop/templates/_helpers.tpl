{{- define "actop.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "actop.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "actop.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "actop.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository .Values.image.tag -}}
{{- end -}}
{{- end -}}

{{- define "actop.selector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "actop" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: silo
{{- end -}}

{{- define "actop.postgresqlSelector" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "actop" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: postgresql
{{- end -}}

{{- define "actop.labels" -}}
app.kubernetes.io/name: {{ .Values.nameOverride | default "actop" }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: actop
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "actop.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "actop.labels" .root | nindent 2 }}
{{- end -}}

{{- /* The secret and the key with the connection string. */ -}}
{{- define "actop.databaseSecret" -}}
{{- if .Values.postgresql.enabled -}}
name: {{ include "actop.fullname" . }}-postgresql
key: connectionString
{{- else -}}
name: {{ .Values.database.existingSecret }}
key: {{ .Values.database.key }}
{{- end -}}
{{- end -}}

{{- /*
Writes the object "actop.object.NAME", with what overrides.NAME says. Arguments: root, name.
*/ -}}
{{- define "actop.resource" -}}
{{- $object := include (printf "actop.object.%s" .name) .root | fromYaml -}}
{{- if hasKey $object "Error" -}}
{{- fail (printf "The template of %s is no YAML: %s" .name $object.Error) -}}
{{- end -}}
{{- with index .root.Values.overrides .name -}}
{{- $object = mustMergeOverwrite $object (deepCopy (.merge | default dict)) -}}
{{- range .patch -}}
{{- $parts := splitList "/" (trimPrefix "/" .path) -}}
{{- $arguments := dict "name" $.name "patch" . "parts" $parts "node" $object -}}
{{- $object = (include "actop.patch" $arguments | fromJson).node -}}
{{- end -}}
{{- end -}}
{{ $object | toYaml }}
{{- end -}}

{{- /*
One JSON patch (RFC 6902: add, replace, remove) at a node. Answers {"node": the changed node}. Arguments: name, patch, parts (what is left of
the path), node.
*/ -}}
{{- define "actop.patch" -}}
{{- $key := first .parts | replace "~1" "/" | replace "~0" "~" -}}
{{- $isLast := eq (len .parts) 1 -}}
{{- $where := printf "overrides.%s.patch: %s %s" .name .patch.op .patch.path -}}
{{- if kindIs "map" .node -}}
  {{- if and (not (hasKey .node $key)) (or (not $isLast) (ne .patch.op "add")) -}}
    {{- fail (printf "%s: there is no %q. Look at the object with \"helm template\"." $where $key) -}}
  {{- end -}}
  {{- if not $isLast -}}
    {{- $inner := include "actop.patch" (dict "name" .name "patch" .patch "parts" (rest .parts) "node" (index .node $key)) | fromJson -}}
    {{- $_ := set .node $key $inner.node -}}
  {{- else if eq .patch.op "remove" -}}
    {{- $_ := unset .node $key -}}
  {{- else -}}
    {{- $_ := set .node $key .patch.value -}}
  {{- end -}}
  {{- dict "node" .node | toJson -}}
{{- else if kindIs "slice" .node -}}
  {{- if and (eq $key "-") $isLast (eq .patch.op "add") -}}
    {{- dict "node" (append .node .patch.value) | toJson -}}
  {{- else -}}
    {{- if not (regexMatch "^[0-9]+$" $key) -}}
      {{- fail (printf "%s: %q is no index of a list. Use a number, or \"-\" to append." $where $key) -}}
    {{- end -}}
    {{- $index := int $key -}}
    {{- if ge $index (len .node) -}}
      {{- fail (printf "%s: the list has %d items. Use \"-\" to append." $where (len .node)) -}}
    {{- end -}}
    {{- $items := list -}}
    {{- range $position, $item := .node -}}
      {{- if ne $position $index -}}
        {{- $items = append $items $item -}}
      {{- else if not $isLast -}}
        {{- $inner := include "actop.patch" (dict "name" $.name "patch" $.patch "parts" (rest $.parts) "node" $item) | fromJson -}}
        {{- $items = append $items $inner.node -}}
      {{- else if eq $.patch.op "add" -}}
        {{- $items = concat $items (list $.patch.value $item) -}}
      {{- else if eq $.patch.op "replace" -}}
        {{- $items = append $items $.patch.value -}}
      {{- end -}}
    {{- end -}}
    {{- dict "node" $items | toJson -}}
  {{- end -}}
{{- else -}}
  {{- fail (printf "%s: %q is below a value that is neither an object nor a list." $where $key) -}}
{{- end -}}
{{- end -}}
