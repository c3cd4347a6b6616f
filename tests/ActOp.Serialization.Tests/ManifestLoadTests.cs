using System.Reflection;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.Extensions.DependencyInjection;
using Orleans.Serialization;

namespace ActOp.Serialization.Tests;

/// <summary>Who registers the assemblies of the application, and who waits for it.</summary>
public sealed class ManifestLoadTests
{
    /// <summary>Reached only if a thread hangs.</summary>
    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(1);

    private static readonly ManualResetEventSlim Begun = new();
    private static readonly ManualResetEventSlim Released = new();
    private static bool s_isRegistered;

    [Fact]
    public void Who_loads_an_assembly_that_another_thread_is_registering_waits_for_it()
    {
        var assembly = WithInitializer("System.Slow", Initialize);
        var wasRegistered = false;
        var first = new Thread(() => TypeManifest.Load(assembly));
        var second = new Thread(() =>
        {
            TypeManifest.Load(assembly);
            wasRegistered = s_isRegistered;
        });
        first.Start();
        Assert.True(Begun.Wait(Limit));
        second.Start();
        // It has come back already, or it waits.
        Assert.True(SpinWait.SpinUntil(() => (second.ThreadState & (ThreadState.WaitSleepJoin | ThreadState.Stopped)) != 0, Limit));
        Released.Set();

        Assert.True(first.Join(Limit) && second.Join(Limit));
        Assert.True(wasRegistered);
    }

    [Fact]
    public void A_serializer_without_a_host_registers_the_assemblies_of_the_application()
    {
        var isRegistered = false;
        WithInitializer("System.Quick", () => isRegistered = true);
        new ServiceCollection().AddSerializer();
        Assert.True(isRegistered);
    }

    /// <summary>Stands for generated code that registers types.</summary>
    private static void Initialize()
    {
        Begun.Set();
        Released.Wait(Limit);
        s_isRegistered = true;
    }

    /// <summary>Loads an assembly with a mark of generated code.</summary>
    /// <param name="name">Begins like that of an assembly of .NET, so that its references are not looked at.</param>
    /// <param name="initialize">What its module initializer does.</param>
    private static Assembly WithInitializer(string name, Action initialize)
    {
        AppDomain.CurrentDomain.SetData(name, initialize);
        var source = $$"""
            [assembly: {{typeof(GeneratedManifestAttribute).FullName}}(typeof(Code))]
            internal static class Code
            {
                [System.Runtime.CompilerServices.ModuleInitializer]
                internal static void Run() => ((System.Action)System.AppDomain.CurrentDomain.GetData("{{name}}"))();
            }
            """;
        var compilation = CSharpCompilation.Create(name, [CSharpSyntaxTree.ParseText(source)],
            PlatformReferences.All, new(OutputKind.DynamicallyLinkedLibrary));
        using var image = new MemoryStream();
        Assert.Empty(compilation.Emit(image).Diagnostics.Where(static one => one.Severity == DiagnosticSeverity.Error));
        return Assembly.Load(image.ToArray());
    }
}
