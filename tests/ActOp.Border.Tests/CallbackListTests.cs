using System.Reflection;
using ActOp.Hosting;
using ActOp.Locality;
using ActOp.Management;
using ActOp.Reminders;
using ActOp.Runtime.Nodes;
using ActOp.Storage;
using ActOp.Streams;
using Orleans.Serialization.Serializers;

namespace ActOp.Border.Tests;

/// <summary>Nothing that an application may implement or pass is forgotten by <see cref="CallbackTests"/>.</summary>
public class CallbackListTests
{
    private static readonly Assembly[] Assemblies =
    [
        typeof(Grain).Assembly, typeof(Node).Assembly, typeof(LocalityService).Assembly, typeof(StateDiagnostics).Assembly, typeof(StreamNode).Assembly, typeof(ReminderSilo).Assembly,
        typeof(ManagementNeeds).Assembly, typeof(SiloHost).Assembly, typeof(ICodecProvider).Assembly,
        typeof(IActivatorProvider).Assembly,
    ];

    /// <summary>What their methods take runs while the host is built, in the thread of the caller.</summary>
    private static readonly string[] OfBuilders = ["Orleans.Hosting", "Orleans.Runtime.Hosting", "Microsoft.Extensions"];

    [Fact]
    public void Every_public_interface_and_delegate_has_a_case_or_a_reason()
    {
        var listed = File.ReadLines(Path.Combine(AppContext.BaseDirectory, "Callbacks.txt"))
            .Where(static line => !line.StartsWith('#')).Select(static line => line.Split(' ', 2)).ToDictionary(
                static parts => parts[0], static parts => parts.Length > 1 ? parts[1] : "", StringComparer.Ordinal);
        var cases = CallbackTests.All.SelectMany(static one => one.Types)
            .Concat(StreamCallbackTests.All.SelectMany(static one => one.Types))
            .Concat(ServiceCallbackTests.All.SelectMany(static one => one.Types)).Concat(ServiceCallbackTests.Others)
            .Append(typeof(Orleans.Providers.IMemoryMessageBodySerializer)).Select(NameOf).ToHashSet(StringComparer.Ordinal);
        var found = Assemblies.SelectMany(static assembly => assembly.GetExportedTypes()).Where(MayBeCalled).Select(NameOf)
            .ToHashSet(StringComparer.Ordinal);
        Assert.Empty(found.Except(cases).Except(listed.Keys).Order(StringComparer.Ordinal));
        // What has gone, or has got a case, leaves the list.
        Assert.Empty(listed.Keys.Except(found).Concat(listed.Keys.Intersect(cases)).Order(StringComparer.Ordinal));
        Assert.DoesNotContain("", listed.Values);
    }

    private static bool MayBeCalled(Type type)
    {
        if (type.IsInterface || type.IsSubclassOf(typeof(Delegate)))
            return true;
        if (OfBuilders.Any(space => type.Namespace!.StartsWith(space, StringComparison.Ordinal)))
            return false;
        const BindingFlags Own = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static
            | BindingFlags.DeclaredOnly;
        return type.GetMembers(Own).OfType<MethodBase>()
            .Where(static method => method.IsPublic || method.IsFamily || method.IsFamilyOrAssembly)
            .SelectMany(static method => method.GetParameters())
            .Any(static parameter => parameter.ParameterType.IsSubclassOf(typeof(Delegate)));
    }

    private static string NameOf(Type type)
    {
        var definition = type.IsGenericType ? type.GetGenericTypeDefinition() : type;
        return definition.FullName!.Replace('+', '.');
    }
}
