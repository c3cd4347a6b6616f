using System.Reflection;
using System.Reflection.Emit;

namespace Orleans.Serialization.Utilities;

/// <summary>Reads a field of a struct.</summary>
public delegate TField ValueTypeGetter<TDeclaring, out TField>(ref TDeclaring instance)
    where TDeclaring : struct;

/// <summary>Sets a field of a struct.</summary>
public delegate void ValueTypeSetter<TDeclaring, in TField>(ref TDeclaring instance, TField value)
    where TDeclaring : struct;

/// <summary>Makes delegates for fields that are not visible or are read-only.</summary>
public static class FieldAccessor
{
    private const BindingFlags Any = BindingFlags.Instance | BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;

    /// <summary>A <c>Func&lt;TDeclaring, TField&gt;</c>.</summary>
    public static Delegate GetGetter(Type declaringType, string fieldName) => Get(declaringType, fieldName, isByRef: false);

    /// <summary>A <see cref="ValueTypeGetter{TDeclaring, TField}"/>.</summary>
    public static Delegate GetValueGetter(Type declaringType, string fieldName) => Get(declaringType, fieldName, isByRef: true);

    /// <summary>An <c>Action&lt;TDeclaring, TField&gt;</c>.</summary>
    public static Delegate GetReferenceSetter(Type declaringType, string fieldName) => Set(declaringType, fieldName, isByRef: false);

    /// <summary>A <see cref="ValueTypeSetter{TDeclaring, TField}"/>.</summary>
    public static Delegate GetValueSetter(Type declaringType, string fieldName) => Set(declaringType, fieldName, isByRef: true);

    private static FieldInfo Field(Type declaringType, string name) => declaringType.GetField(name, Any)
        ?? throw new InvalidOperationException("The type " + declaringType + " has no field " + name + ".");

    private static Delegate Get(Type declaringType, string fieldName, bool isByRef)
    {
        var field = Field(declaringType, fieldName);
        var method =
            new DynamicMethod(field.Name + "Get", field.FieldType, [isByRef ? declaringType.MakeByRefType() : declaringType],
                typeof(FieldAccessor).Module, skipVisibility: true);
        var code = method.GetILGenerator();
        code.Emit(OpCodes.Ldarg_0);
        code.Emit(OpCodes.Ldfld, field);
        code.Emit(OpCodes.Ret);
        var type = isByRef ? typeof(ValueTypeGetter<,>) : typeof(Func<,>);
        return method.CreateDelegate(type.MakeGenericType(declaringType, field.FieldType));
    }

    private static Delegate Set(Type declaringType, string fieldName, bool isByRef)
    {
        var field = Field(declaringType, fieldName);
        var method =
            new DynamicMethod(field.Name + "Set", null, [isByRef ? declaringType.MakeByRefType() : declaringType, field.FieldType],
                typeof(FieldAccessor).Module, skipVisibility: true);
        var code = method.GetILGenerator();
        code.Emit(OpCodes.Ldarg_0);
        code.Emit(OpCodes.Ldarg_1);
        code.Emit(OpCodes.Stfld, field);
        code.Emit(OpCodes.Ret);
        var type = isByRef ? typeof(ValueTypeSetter<,>) : typeof(Action<,>);
        return method.CreateDelegate(type.MakeGenericType(declaringType, field.FieldType));
    }
}
