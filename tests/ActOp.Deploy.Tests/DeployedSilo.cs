using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Security.Cryptography.X509Certificates;
using k8s.Models;

namespace ActOp.Deploy.Tests;

/// <summary>A process of the sample Shop with the variables that a pod of the chart has, at an address of loopback of its own.</summary>
internal sealed partial class DeployedSilo : IAsyncDisposable
{
    public static readonly TimeSpan Patience = TimeSpan.FromSeconds(60);

    private const int SigTerm = 15;

    private readonly Process _process;
    private readonly List<string> _lines = [];
    private readonly TaskCompletionSource _started = new(TaskCreationOptions.RunContinuationsAsynchronously);

    private DeployedSilo(Process process) => _process = process;

    public string Output
    {
        get
        {
            lock (_lines)
                return string.Join('\n', _lines);
        }
    }

    /// <summary>Starts a program, and returns when it says that it has started.</summary>
    public static async Task<DeployedSilo> StartAsync(string[] command, Dictionary<string, string> variables)
    {
        ProcessStartInfo start = new(command[0], command[1..]) { RedirectStandardOutput = true, RedirectStandardError = true };
        foreach (var (name, value) in variables)
            start.Environment[name] = value;
        // A folder that cannot be written: what a silo writes goes to /tmp.
        start.WorkingDirectory = "/";
        var silo = new DeployedSilo(new Process { StartInfo = start });
        silo._process.OutputDataReceived += silo.Take;
        silo._process.ErrorDataReceived += silo.Take;
        silo._process.Start();
        silo._process.BeginOutputReadLine();
        silo._process.BeginErrorReadLine();
        var first = await Task.WhenAny(silo._started.Task, silo._process.WaitForExitAsync()).WaitAsync(Patience);
        if (first == silo._started.Task)
            return silo;
        await silo.DisposeAsync();
        throw new InvalidOperationException("The silo ended at its start:\n" + silo.Output);
    }

    /// <summary>Ends it as Kubernetes, Docker and systemd do, and returns its exit code.</summary>
    public async Task<int> TerminateAsync()
    {
        Assert.Equal(0, Kill(_process.Id, SigTerm));
        await _process.WaitForExitAsync().WaitAsync(Patience);
        return _process.ExitCode;
    }

    public async ValueTask DisposeAsync()
    {
        if (!_process.HasExited)
            _process.Kill(entireProcessTree: true);
        await _process.WaitForExitAsync().WaitAsync(Patience);
        _process.Dispose();
    }

    /// <summary>The variables of the container, as the kubelet would fill them in.</summary>
    public static Dictionary<string, string> Variables(
        V1Container container, string name, string address, Dictionary<string, Dictionary<string, string>> secrets)
    {
        var variables = new Dictionary<string, string>();
        foreach (var one in container.Env)
        {
            if (one.ValueFrom?.FieldRef is { } field)
            {
                variables[one.Name] = field.FieldPath == "status.podIP" ? address : name;
            }
            else if (one.ValueFrom?.SecretKeyRef is { } secret)
            {
                if (secrets[secret.Name].TryGetValue(secret.Key, out var value))
                    variables[one.Name] = value;
                else
                    Assert.True(secret.Optional, $"{one.Name}: there is no key {secret.Key} in {secret.Name}.");
            }
            else
            {
                variables[one.Name] = variables.Aggregate(one.Value, static (text, known) => text.Replace($"$({known.Key})", known.Value));
            }
        }

        return variables;
    }

    /// <summary>Writes tls.crt, tls.key and ca.crt, as cert-manager does.</summary>
    public static void WriteCertificate(string folder, string host)
    {
        var now = TimeProvider.System.GetUtcNow();
        using var rootKey = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var root = new CertificateRequest("CN=root", rootKey, HashAlgorithmName.SHA256);
        root.CertificateExtensions.Add(new X509BasicConstraintsExtension(true, false, 0, true));
        using var issuer = root.CreateSelfSigned(now.AddDays(-2), now.AddDays(2));
        using var key = ECDsa.Create(ECCurve.NamedCurves.nistP256);
        var request = new CertificateRequest("CN=silos", key, HashAlgorithmName.SHA256);
        var names = new SubjectAlternativeNameBuilder();
        names.AddDnsName(host);
        request.CertificateExtensions.Add(names.Build());
        using var signed = request.Create(issuer, now.AddDays(-1), now.AddDays(1), [1]);
        File.WriteAllText(Path.Combine(folder, "tls.crt"), signed.ExportCertificatePem());
        File.WriteAllText(Path.Combine(folder, "tls.key"), key.ExportPkcs8PrivateKeyPem());
        File.WriteAllText(Path.Combine(folder, "ca.crt"), issuer.ExportCertificatePem());
    }

    private void Take(object sender, DataReceivedEventArgs line)
    {
        if (line.Data is not { } text)
            return;
        lock (_lines)
            _lines.Add(text);
        if (text.Contains("Application started", StringComparison.Ordinal))
            _started.TrySetResult();
    }

    [LibraryImport("libc", EntryPoint = "kill", SetLastError = true)]
    private static partial int Kill(int id, int signal);
}
