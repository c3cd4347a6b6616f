using System.Text.Json.Nodes;
using k8s.Models;

namespace ActOp.Deploy.Tests;

/// <summary>The chart, rendered by the real helm over the files in Values and Refused.</summary>
public class ChartTests
{
    public static TheoryData<string> Values => Repository.Values("Values");

    public static TheoryData<string> Refused => Repository.Values("Refused");

    [Fact]
    public void There_are_ten_files_with_values() => Assert.True(Values.Count >= 10);

    [Theory]
    [MemberData(nameof(Values))]
    public async Task Lint_finds_nothing(string name)
    {
        var (code, output, errors) = await Helm.RunAsync(
            "lint", "--strict", Repository.Chart, "--values", Repository.ValuesPath("Values", name));
        Assert.True(code == 0 && !(output + errors).Contains('['), output + errors);
    }

    [Theory]
    [MemberData(nameof(Values))]
    public async Task The_objects_are_as_Kubernetes_describes_them(string name)
    {
        var objects = await RenderAsync(name);
        Assert.NotEmpty(objects);
        Assert.Equal(objects.Count, objects.Select(static one => one.GetType().Name + " "
            + ((k8s.IKubernetesObject<V1ObjectMeta>)one).Metadata.Name).Distinct().Count());
        Assert.All(objects, static one => Assert.Equal("web", ((k8s.IKubernetesObject<V1ObjectMeta>)one).Metadata.NamespaceProperty));
    }

    [Theory]
    [MemberData(nameof(Refused))]
    public async Task Bad_values_are_refused_with_what_to_do(string name)
    {
        var path = Repository.ValuesPath("Refused", name);
        var (_, refusal) = await Helm.TemplateAsync(path);
        Assert.Contains(File.ReadLines(path).First()[2..], refusal, StringComparison.Ordinal);
    }

    [Theory]
    [MemberData(nameof(Values))]
    public async Task Pods_ask_the_Kubernetes_API_nothing_and_have_no_rights_on_their_node(string name)
    {
        var objects = await RenderAsync(name);
        Assert.DoesNotContain(objects, static one => one.GetType().Name is "V1Role" or "V1ClusterRole" or "V1RoleBinding");
        Assert.All(objects.OfType<V1ServiceAccount>(), static account => Assert.False(account.AutomountServiceAccountToken));
        Assert.NotEmpty(objects.Pods());
        Assert.All(objects.Pods(), static pod =>
        {
            Assert.False(pod.Spec.AutomountServiceAccountToken);
            Assert.True(pod.Spec.SecurityContext.RunAsNonRoot);
            Assert.NotEqual(0, pod.Spec.SecurityContext.RunAsUser);
            Assert.Equal("RuntimeDefault", pod.Spec.SecurityContext.SeccompProfile.Type);
            // The second container of "overrides" is not ours.
            var container = pod.Spec.Containers[0];
            Assert.True(container.SecurityContext.ReadOnlyRootFilesystem);
            Assert.False(container.SecurityContext.AllowPrivilegeEscalation);
            Assert.Equal(["ALL"], container.SecurityContext.Capabilities.Drop);
            Assert.False(container.Resources.Limits.ContainsKey("cpu"));
            Assert.True(container.Resources.Requests.ContainsKey("cpu"));
        });
    }

    [Theory]
    [MemberData(nameof(Values))]
    public async Task Selectors_find_what_they_are_for(string name)
    {
        var objects = await RenderAsync(name);
        var deployment = objects.Only<V1Deployment>();
        var silo = deployment.Spec.Template.Metadata.Labels;
        Assert.True(Selects(deployment.Spec.Selector.MatchLabels, silo));
        var pods = objects.Pods().Select(static pod => pod.Labels).ToArray();
        // A service of the silos must not find PostgreSQL, and the other way round.
        Assert.All(objects.OfType<V1Service>(), service => Assert.Single(pods, pod => Selects(service.Spec.Selector, pod)));
        Assert.All(objects.OfType<V1PodDisruptionBudget>(), budget => Assert.True(Selects(budget.Spec.Selector.MatchLabels, silo)));
        Assert.All(objects.OfType<V1NetworkPolicy>(), policy =>
            Assert.Single(pods, pod => Selects(policy.Spec.PodSelector.MatchLabels, pod)));
        Assert.All(objects.OfType<PodMonitor>(), monitor => Assert.True(Selects(monitor.Spec.Selector.MatchLabels, silo)));
        Assert.All(objects.OfType<ServiceMonitor>(), monitor => Assert.Single(objects.OfType<V1Service>(),
            service => Selects(monitor.Spec.Selector.MatchLabels, service.Metadata.Labels)));
        var ports = deployment.Spec.Template.Spec.Containers[0].Ports.Select(static port => port.Name).ToHashSet();
        Assert.All(objects.OfType<V1Service>().Where(one => Selects(one.Spec.Selector, silo)).SelectMany(static one => one.Spec.Ports),
            port => Assert.Contains(port.TargetPort.Value, ports));
    }

    [Fact]
    public async Task A_roll_adds_a_silo_before_it_takes_one_away_and_gives_it_time_to_move_its_grains()
    {
        var deployment = (await RenderAsync("minimal")).Only<V1Deployment>();
        Assert.Equal("0", deployment.Spec.Strategy.RollingUpdate.MaxUnavailable.Value);
        Assert.Equal("1", deployment.Spec.Strategy.RollingUpdate.MaxSurge.Value);
        var pod = deployment.Spec.Template.Spec;
        Assert.Equal(150, pod.TerminationGracePeriodSeconds);
        var silo = pod.Containers[0];
        var drain = int.Parse(Assert.Single(silo.Env, static one => one.Name == "DOTNET_SHUTDOWNTIMEOUTSECONDS").Value);
        Assert.True(silo.Lifecycle.PreStop.Sleep.Seconds + drain + 10 <= pod.TerminationGracePeriodSeconds);
        Assert.Equal("/health/live", silo.LivenessProbe.HttpGet.Path);
        Assert.Equal("/health/ready", silo.ReadinessProbe.HttpGet.Path);
        Assert.Equal("/health/ready", silo.StartupProbe.HttpGet.Path);
        Assert.Equal(["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
            pod.TopologySpreadConstraints.Select(static one => one.TopologyKey));
    }

    [Fact]
    public async Task The_start_may_take_as_long_as_the_values_say()
    {
        var silo = (await RenderAsync("ports")).Only<V1Deployment>().Spec.Template.Spec.Containers[0];
        Assert.True(silo.StartupProbe.PeriodSeconds * silo.StartupProbe.FailureThreshold >= 602);
        Assert.Equal([9080, 9081, 9111, 9300], silo.Ports.Select(static port => port.ContainerPort).Order());
        Assert.EndsWith("@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", silo.Image, StringComparison.Ordinal);
    }

    [Fact]
    public async Task Only_silos_reach_the_port_of_silos()
    {
        var objects = await RenderAsync("production");
        var policy = objects.Only<V1NetworkPolicy>();
        var silo = Assert.Single(policy.Spec.Ingress, static rule => rule.Ports.Any(static port => port.Port.Value == "silo"));
        Assert.Single(silo.Ports);
        var from = Assert.Single(silo.FromProperty);
        Assert.Null(from.NamespaceSelector);
        Assert.Equal(policy.Spec.PodSelector.MatchLabels, from.PodSelector.MatchLabels);
        // A rule without peers lets in everybody: only the port of the application has one.
        Assert.Equal("http", Assert.Single(Assert.Single(policy.Spec.Ingress, static rule => rule.FromProperty is null).Ports).Port.Value);
    }

    [Fact]
    public async Task Secrets_come_from_secrets_and_a_replaced_one_may_be_absent()
    {
        var silo = (await RenderAsync("tls")).Only<V1Deployment>().Spec.Template.Spec;
        var references = silo.Containers[0].Env.Where(static one => one.ValueFrom?.SecretKeyRef is not null)
            .ToDictionary(static one => one.Name, static one => one.ValueFrom.SecretKeyRef);
        Assert.Equal("dsn", references["ConnectionStrings__actop"].Key);
        Assert.NotEqual(true, references["ActOp__Security__Secret"].Optional);
        Assert.True(references["ActOp__Security__AcceptedSecrets__0"].Optional);
        Assert.Equal((true, "operatorSecret"), (references["ActOp__Security__OperatorSecret"].Optional,
            references["ActOp__Security__OperatorSecret"].Key));
        var volume = Assert.Single(silo.Volumes, static one => one.Secret is not null);
        var mount = Assert.Single(silo.Containers[0].VolumeMounts, one => one.Name == volume.Name);
        // A file under a sub-path is not renewed.
        Assert.Null(mount.SubPath);
        Assert.Equal("/etc/actop/tls/tls.crt", Assert.Single(silo.Containers[0].Env,
            static one => one.Name == "ActOp__Tls__CertificatePath").Value);
    }

    [Fact]
    public async Task The_autoscaler_owns_the_number_of_silos()
    {
        var objects = await RenderAsync("autoscaling");
        Assert.Null(objects.Only<V1Deployment>().Spec.Replicas);
        var scaler = objects.Only<V2HorizontalPodAutoscaler>();
        Assert.Equal(objects.Only<V1Deployment>().Metadata.Name, scaler.Spec.ScaleTargetRef.Name);
        Assert.Equal(["Resource", "Pods"], scaler.Spec.Metrics.Select(static metric => metric.Type));
    }

    [Fact]
    public async Task Overrides_are_merged_and_patched_into_their_objects()
    {
        var objects = await RenderAsync("overrides");
        var deployment = objects.Only<V1Deployment>();
        var pod = deployment.Spec.Template.Spec;
        Assert.Equal("legacy", Assert.Single(Assert.Single(pod.HostAliases).Hostnames));
        Assert.Equal(["silo", "proxy"], pod.Containers.Select(static one => one.Name));
        Assert.Equal(1, pod.Containers[0].ReadinessProbe.PeriodSeconds);
        Assert.Equal("/health/ready", pod.Containers[0].ReadinessProbe.HttpGet.Path);
        Assert.Equal("shop", deployment.Metadata.Labels["example.com/team"]);
        Assert.Equal("kubernetes.io/hostname", Assert.Single(pod.TopologySpreadConstraints).TopologyKey);
        Assert.Contains(objects.OfType<V1Service>(), static one => one.Spec.SessionAffinity == "ClientIP");
        Assert.Null(objects.Only<V1PodDisruptionBudget>().Spec.UnhealthyPodEvictionPolicy);
    }

    [Fact]
    public async Task Every_object_can_be_overridden()
    {
        var names = Repository.Text("deploy/helm/actop/values.yaml").Split("# Objects: ")[1].Split('.')[0].Replace("\n#", "")
            .Split(", ").Select(static name => name.Trim()).ToArray();
        Assert.Equal(16, names.Length);
        string[] set = [.. names.SelectMany(static name => new[] { "--set", $"overrides.{name}.merge.metadata.labels.overridden=yes" })];
        string[] all = ["--set", "autoscaling.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true"];
        string[] trial = ["--set", "postgresql.enabled=true,database.existingSecret="];
        var labelled = new HashSet<string>();
        foreach (var monitor in new[] { "podMonitor", "serviceMonitor" })
        {
            var (yaml, refusal) = await Helm.TemplateAsync(Repository.ValuesPath("Values", "minimal"),
                [.. set, .. all, .. trial, "--set", $"metrics.{monitor}.enabled=true"]);
            Assert.Equal("", refusal);
            foreach (var one in KubernetesObjects.Read(yaml, out _).Cast<k8s.IKubernetesObject<V1ObjectMeta>>())
            {
                Assert.Equal("yes", one.Metadata.Labels["overridden"]);
                labelled.Add(one.GetType().Name + one.Metadata.Name);
            }
        }

        Assert.Equal(names.Length, labelled.Count);
    }

    [Fact]
    public async Task The_test_of_the_release_asks_a_silo_whether_it_is_ready()
    {
        var objects = await RenderAsync("ports");
        var pod = objects.Only<V1Pod>();
        Assert.Equal("test", pod.Metadata.Annotations["helm.sh/hook"]);
        var service = Assert.Single(objects.OfType<V1Service>(), static one => one.Spec.ClusterIP == "None");
        Assert.Equal($"http://{service.Metadata.Name}:9081/ready", pod.Spec.Containers[0].Command[^1]);
    }

    [Fact]
    public void The_schema_of_the_values_knows_every_default()
    {
        var schema = JsonNode.Parse(Repository.Text("deploy/helm/actop/values.schema.json"))!;
        var keys = Repository.Text("deploy/helm/actop/values.yaml").Split('\n')
            .Where(static line => line.Length > 0 && char.IsLetter(line[0])).Select(static line => line.Split(':')[0]).ToArray();
        Assert.Equal(keys.Order(StringComparer.Ordinal), schema["properties"]!.AsObject().Select(static one => one.Key)
            .Where(static key => key != "global").Order(StringComparer.Ordinal));
        Assert.False((bool)schema["additionalProperties"]!);
    }

    private static bool Selects(IDictionary<string, string> selector, IDictionary<string, string> labels) =>
        selector.Count > 0 && selector.All(one => labels.TryGetValue(one.Key, out var value) && value == one.Value);

    private static async Task<List<object>> RenderAsync(string name)
    {
        var (yaml, refusal) = await Helm.TemplateAsync(Repository.ValuesPath("Values", name));
        Assert.Equal("", refusal);
        var objects = KubernetesObjects.Read(yaml, out var missing);
        Assert.Empty(missing);
        return objects;
    }
}
